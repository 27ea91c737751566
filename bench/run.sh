#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# What `./run bench` does: measures the built program beside its peers. LUMINAL_PROGRAM and
# LUMINAL_MODEL name what is measured; more arguments go to peers/compare_llama_cpp.py.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
: "${LUMINAL_PROGRAM:?the built luminal}"
: "${LUMINAL_MODEL:?a GGUF file}"

venv=${LUMINAL_PEERS_VENV:-$root/.cache/peers}
python=$venv/bin/python
if ! "$python" -c 'import llama_cpp, numpy' 2>/dev/null; then
  log=$venv/install.log
  echo "installing llama-cpp-python in $venv: built from source, about 10 minutes on two cores"
  python3 -m venv "$venv"
  if ! CMAKE_ARGS="-DGGML_NATIVE=ON -DCMAKE_BUILD_TYPE=Release" \
      "$venv/bin/pip" install --no-binary llama-cpp-python llama-cpp-python numpy >"$log" 2>&1; then
    tail -20 "$log" >&2
    echo "the peer could not be installed; see $log" >&2
    exit 1
  fi
fi
exec python3 "$here/peers/compare_llama_cpp.py" \
  --program "$LUMINAL_PROGRAM" --model "$LUMINAL_MODEL" --peer-python "$python" "$@"
