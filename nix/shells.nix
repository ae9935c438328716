# Shells with a real Batsim. batdispatch is not in them: it talks to Batsim over a socket, from the environment that
# `make setup` makes.
{ pkgs, packages }:

let
  # As an interpreter with packages, not as packages beside an interpreter: those would set PYTHONPATH, which every
  # other Python started in the shell would obey, batdispatch's too.
  python = pkgs.python3.withPackages (_: [ packages.pybatsim-321 packages.evalys ]);
  shell = tools: pkgs.mkShellNoCC { packages = tools; };
in
rec {
  default = batsim4;
  batsim4 = shell [ packages.batsim-420 packages.batsched-140 python ];
  batsim5 = shell [ packages.batsim5 ];
}
