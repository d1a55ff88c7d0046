#!/bin/sh
# Used by the Dockerfile, in a built repository: puts the packed packages and what the lock file says that they need into a folder.
#
#   TARGETARCH=arm64 sh deploy/install.sh /opt/millrace/node_modules --omit=optional
set -eu
target=$1
shift
case $TARGETARCH in amd64) cpu=x64 ;; *) cpu=$TARGETARCH ;; esac

npm ci --no-fund --no-audit --ignore-scripts --omit=dev --os=linux --cpu="$cpu" --libc=glibc -w packages/millrace "$@"
mkdir -p "$(dirname "$target")"
cp -a node_modules "$target"
for name in contract sdk server millrace; do
  case $name in
    millrace) folder=$target/millrace file=$(ls /packages/millrace-[0-9]*.tgz) ;;
    *) folder=$target/@millrace/$name file=$(ls /packages/millrace-"$name"-[0-9]*.tgz) ;;
  esac
  # npm made a link into the repository: the files of the package take its place.
  rm "$folder"
  mkdir "$folder"
  tar -xzf "$file" -C "$folder" --strip-components=1
  if [ -d "packages/$name/node_modules" ]; then cp -a "packages/$name/node_modules" "$folder/"; fi
done
# Links of workspaces that are not installed here.
find "$target" -xtype l -delete
