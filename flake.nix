{
  description = "batdispatch, and the simulators that it talks to, pinned: Batsim 4.2.0 with batsched and pybatsim, and Batsim 5";

  inputs = {
    # Of the 25.11 release: the first whose Python packages are as new as batdispatch asks for.
    nixpkgs.url = "github:NixOS/nixpkgs/8fd9daa3db09ced9700431c5b7ad0e8ba199b575";
    # The last state of the package set in which Batsim 4, batsched, pybatsim and evalys all build.
    nur-kapack.url = "github:oar-team/nur-kapack/d04941d2a6b8d93a618cf7e32020dd2155c88ce7";
    # Batsim 5.0.0-rc2.
    batsim5.url = "github:oar-team/batsim/ba7ea85fa20e81415e2f52290b56120192504553";
  };

  outputs = { self, nixpkgs, nur-kapack, batsim5 }:
    let
      # The only system for which upstream builds Batsim 5.
      system = "x86_64-linux";
      pkgs = nixpkgs.legacyPackages.${system};
      # The simulators keep the nixpkgs that their package set names: they were built with no other.
      simulators = nur-kapack.inputs.nixpkgs.legacyPackages.${system};
      kapack = nur-kapack.packages.${system};
      batdispatch = import ./nix/batdispatch.nix { inherit pkgs; };
    in
    {
      packages.${system} = {
        inherit (kapack) batsim-420 batsched-140 pybatsim-321 evalys;
        batsim5 = batsim5.packages.${system}.batsim;
        inherit batdispatch;
        default = batdispatch;
        # nix build .#container && docker load < result
        container = import ./nix/container.nix { inherit pkgs batdispatch; };
      };

      apps.${system}.default = {
        type = "app";
        program = "${batdispatch}/bin/batdispatch";
      };

      devShells.${system} = import ./nix/shells.nix {
        inherit pkgs simulators batdispatch;
        packages = self.packages.${system};
      };
    };
}
