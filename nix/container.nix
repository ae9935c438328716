# An image with batdispatch alone, for those who build images with Nix; the Containerfile needs no Nix.
{ pkgs, batdispatch }:

pkgs.dockerTools.buildLayeredImage {
  name = "batdispatch";
  tag = batdispatch.version;
  contents = [ batdispatch ];
  config = {
    Entrypoint = [ "/bin/batdispatch" ];
    WorkingDir = "/data";
    Volumes."/data" = { };
  };
}
