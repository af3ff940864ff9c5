"""Parts of the build of the site."""
