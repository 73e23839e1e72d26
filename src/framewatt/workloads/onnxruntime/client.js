// Inference of an exported model from Node.js: the windows of framewatt.runs.worker.infer, on the same clock.
//
// `node client.js <task.json>`: arrays are raw little-endian files. It writes events as they happen, and at its end the
// outputs of the whole pass, the instants between batches and what it was.
"use strict";

const fs = require("node:fs");
const { InferenceSession, Tensor, env } = require("onnxruntime-node");

const ARRAYS = { float32: Float32Array, int64: BigInt64Array, int32: Int32Array };
const MOST_AT_ONCE_B = 2 ** 30;

// process.hrtime reads CLOCK_MONOTONIC on Linux, as Python's time.monotonic_ns does.
const nowNs = process.hrtime.bigint;

function mark(task, window, edge, instantNs) {
  fs.appendFileSync(task.events, `{"window": "${window}", "edge": "${edge}", "monotonic_ns": ${instantNs}}\n`);
}

function readBytes(path) {
  const bytes = new Uint8Array(fs.statSync(path).size);
  const file = fs.openSync(path, "r");
  for (let done = 0; done < bytes.length; ) {
    const read = fs.readSync(file, bytes, done, Math.min(MOST_AT_ONCE_B, bytes.length - done), null);
    if (read === 0) throw new Error(`${path}: ended after ${done} of ${bytes.length} bytes`);
    done += read;
  }
  fs.closeSync(file);
  return bytes.buffer;
}

// Views of the test set, a batch each, by the names of the graph's inputs.
function batchesOf(task) {
  const inputs = task.inputs.map((input) => ({ ...input, values: new ARRAYS[input.type](readBytes(input.path)) }));
  const batches = [];
  for (let start = 0; start < task.samples; start += task.batch_size) {
    const size = Math.min(task.batch_size, task.samples - start);
    const feeds = {};
    for (const { name, type, shape, values } of inputs) {
      const one = shape.reduce((product, length) => product * length, 1);
      feeds[name] = new Tensor(type, values.subarray(start * one, (start + size) * one), [size, ...shape]);
    }
    batches.push(feeds);
  }
  return batches;
}

async function main(path) {
  const task = JSON.parse(fs.readFileSync(path, "utf8"));
  mark(task, "setup", "start", nowNs());
  const session = await InferenceSession.create(task.model, {
    executionProviders: ["cpu"],
    intraOpNumThreads: task.threads,
    interOpNumThreads: 1,
    graphOptimizationLevel: task.graph_optimization,
  });
  const output = session.outputNames[0];
  const batches = batchesOf(task);
  mark(task, "setup", "end", nowNs());

  mark(task, "warm_up", "start", nowNs());
  for (let index = 0; index < task.warm_up_batches; index++) await session.run(batches[index % batches.length]);
  mark(task, "warm_up", "end", nowNs());

  const minimumNs = BigInt(task.minimum_ns);
  const outputs = [];
  const stamps = [];
  const startNs = nowNs();
  let endNs = startNs;
  mark(task, "steady", "start", startNs);
  stamps.push(startNs);
  for (const feeds of batches) {
    outputs.push((await session.run(feeds))[output]);
    endNs = nowNs();
    stamps.push(endNs);
  }
  for (let index = 0; endNs - startNs < minimumNs; index = (index + 1) % batches.length) {
    await session.run(batches[index]);
    endNs = nowNs();
    stamps.push(endNs);
  }
  mark(task, "steady", "end", endNs);

  const [first] = outputs;
  if (first.type !== "float32") throw new Error(`model: found an output of type ${first.type}; allowed: float32`);
  const parts = outputs.map(({ data }) => Buffer.from(data.buffer, data.byteOffset, data.byteLength));
  fs.writeFileSync(task.outputs, Buffer.concat(parts));
  fs.writeFileSync(task.stamps, Buffer.from(BigInt64Array.from(stamps).buffer));
  const libraries = { node: process.versions.node, "onnxruntime-node": env.versions.node };
  fs.writeFileSync(task.result, JSON.stringify({ output_shape: first.dims.slice(1), libraries }));
}

main(process.argv[2]).catch((error) => {
  console.error(String(error));
  process.exit(1);
});
