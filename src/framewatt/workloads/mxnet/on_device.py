"""Compute one number on a device, or end with MXNet's own words.

`python -m framewatt.workloads.mxnet.on_device cuda`
"""

import sys

import mxnet as mx

if __name__ == "__main__":
    (mx.nd.ones((1,), ctx=mx.gpu(0) if sys.argv[1] == "cuda" else mx.cpu()) + 1).asnumpy()
