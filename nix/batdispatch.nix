# batdispatch as a program, with all extras but `campaign` and `simgrid`: whether nixpkgs' Snakemake is as new as campaigns
# ask for could not be looked up, and nothing here needs SimGrid's Python package.
{ pkgs }:

let
  python = pkgs.python3Packages;
  project = (builtins.fromTOML (builtins.readFile ../pyproject.toml)).project;

  # nixpkgs does not have these two. The hashes are those of the wheels in requirements.lock.
  procset = python.buildPythonPackage rec {
    pname = "procset";
    version = "1.0";
    format = "wheel";
    src = python.fetchPypi {
      inherit pname version format;
      python = "py3";
      dist = "py3";
      sha256 = "6804d642f59bc4a88046c34fe42840e09d72b71d5504678c0b09ac0de1b98af9";
    };
  };
  evalys = python.buildPythonPackage rec {
    pname = "evalys";
    version = "4.0.7";
    format = "wheel";
    src = python.fetchPypi {
      inherit pname version format;
      python = "py2.py3";
      dist = "py2.py3";
      sha256 = "4301e9f91dfa85d7e82e18a33cac15dbed67d0d81ee263744fb6f035f6babbc6";
    };
    dependencies = with python; [ matplotlib pandas procset seaborn ];
  };
in
python.buildPythonApplication {
  pname = project.name;
  inherit (project) version;
  pyproject = true;

  # What the wheel is made from, so that nothing else rebuilds it.
  src = pkgs.lib.fileset.toSource {
    root = ../.;
    fileset = pkgs.lib.fileset.unions [ ../pyproject.toml ../hatch_build.py ../README.md ../LICENSE ../COPYING ../schedulers ../expe/papers ];
  };

  build-system = [ python.hatchling ];
  dependencies = with python; [ click lxml msgspec numpy procset pyzmq rich ]
    # The extras.
    ++ [ evalys jinja2 matplotlib ortools pandas scipy ];

  # The tests need the whole checkout: `make test`.
  pythonImportsCheck = [ "batdispatch.cli.main" "batdispatch.links.serve" "batdispatch.report.page" ];

  meta = {
    inherit (project) description;
    license = pkgs.lib.licenses.lgpl3Plus;
    mainProgram = "batdispatch";
  };
}
