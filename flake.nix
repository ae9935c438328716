{
  description = "The simulators that batdispatch talks to, pinned: Batsim 4.2.0 with batsched and pybatsim, and Batsim 5";

  inputs = {
    # The last state of the package set in which Batsim 4, batsched, pybatsim and evalys all build.
    nur-kapack.url = "github:oar-team/nur-kapack/d04941d2a6b8d93a618cf7e32020dd2155c88ce7";
    # Batsim 5.0.0-rc2.
    batsim5.url = "github:oar-team/batsim/ba7ea85fa20e81415e2f52290b56120192504553";
  };

  outputs = { self, nur-kapack, batsim5 }:
    let
      # The only system for which upstream builds Batsim 5.
      system = "x86_64-linux";
      # The package set's own nixpkgs: its packages were built with no other.
      pkgs = nur-kapack.inputs.nixpkgs.legacyPackages.${system};
      kapack = nur-kapack.packages.${system};
    in
    {
      packages.${system} = {
        inherit (kapack) batsim-420 batsched-140 pybatsim-321 evalys;
        batsim5 = batsim5.packages.${system}.batsim;
      };

      devShells.${system} = import ./nix/shells.nix {
        inherit pkgs;
        packages = self.packages.${system};
      };
    };
}
