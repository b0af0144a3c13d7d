#!/bin/sh
# Makes the secrets of compose.yaml that are not there yet. Those that are there stay as they are.
set -eu
cd "$(dirname "$0")"
mkdir -p secrets
chmod 700 secrets

random() { od -An -N24 -tx1 /dev/urandom | tr -d ' \n'; }
make() { [ -s "secrets/$1" ] || printf '%s\n' "$2" > "secrets/$1"; }

make secret_key "$(random)$(random)"
make postgres_password "$(random)"
make redis_password "$(random)"
make files_access_key "stereoscope"
make files_secret_key "$(random)"
make storage_identities "{\"identities\": [{\"name\": \"stereoscope\", \"credentials\": [{\"accessKey\": \"$(cat secrets/files_access_key)\", \"secretKey\": \"$(cat secrets/files_secret_key)\"}], \"actions\": [\"Admin\", \"Read\", \"Write\", \"List\", \"Tagging\"]}]}"
make metrics_token "$(random)"
make database_url "postgresql://stereoscope:$(cat secrets/postgres_password)@database:5432/stereoscope"
make broker_url "redis://:$(cat secrets/redis_password)@broker:6379/0"
# Empty until a key is written into them.
for name in openai_api_key vision_api_key email_host_password; do
  [ -e "secrets/$name" ] || : > "secrets/$name"
done
# In a container they are read by another user; on this machine nobody else may enter the folder.
chmod 444 secrets/*
