# Shells with batdispatch, alone or beside a real Batsim, and one for work on batdispatch itself.
{ pkgs, simulators, batdispatch, packages }:

let
  # As an interpreter with packages, not as packages beside an interpreter: those would set PYTHONPATH, which every
  # other Python started in the shell would obey, batdispatch's too.
  python = simulators.python3.withPackages (_: [ packages.pybatsim-321 packages.evalys ]);
  shell = tools: pkgs.mkShellNoCC { packages = tools; };
in
rec {
  default = batsim4;
  batsim4 = shell [ packages.batsim-420 packages.batsched-140 python batdispatch ];
  batsim5 = shell [ packages.batsim5 batdispatch ];
  # `make setup` makes the environment; its wheels need a C++ library, as on any other system.
  develop = pkgs.mkShell {
    packages = [ pkgs.gnumake pkgs.python3 pkgs.uv ];
    LD_LIBRARY_PATH = pkgs.lib.makeLibraryPath [ pkgs.stdenv.cc.cc.lib pkgs.zlib ];
  };
}
