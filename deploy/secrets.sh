#!/bin/sh
# Writes the secrets of deploy/compose.yaml into deploy/secrets, or into the folder that is given. What is there stays as it is.
set -eu
folder=${1:-$(dirname "$0")/secrets}
umask 077
mkdir -p "$folder"

# Only this user gets into the folder. The files in it are readable by everybody, because containers have users of their own.
keep() {
  if [ -s "$folder/$1" ]; then return; fi
  cat >"$folder/$1.new"
  chmod 444 "$folder/$1.new"
  mv "$folder/$1.new" "$folder/$1"
}

openssl rand -hex 24 | keep postgres-password
echo "postgres://millrace:$(cat "$folder/postgres-password")@postgres:5432/millrace" | keep database-url
openssl rand -base64 32 | keep master-key
echo "svc_prod_sk_$(openssl rand -hex 12)" | keep prod-secret-key
echo "svc_pat_$(openssl rand -hex 60 | tr -d 0 | cut -c1-40)" | keep access-token
echo "The secrets are in $folder. Keep a copy of master-key: without it, a backup of the database is of little use."
