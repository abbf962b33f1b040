// Holds what traces have of the Tasks extension, both ways, against schemas that were not written here:
//
//     node task_schemas.mjs SCHEMAS TRACE…
//
// SCHEMAS is the package's `core/v2` module. Prints how many messages of each kind were seen, and each
// mismatch; exit code 1 where one is left, or where a kind that was demanded was not seen.

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [module, ...traces] = process.argv.slice(2);
const v2 = await import(pathToFileURL(module).href);

const CAPABILITIES = "io.modelcontextprotocol/clientCapabilities";
const STATUSES = ["working", "input_required", "completed", "failed", "cancelled"];
const REQUESTS = {
  "tasks/get": v2.GetTaskRequestV2Schema,
  "tasks/update": v2.UpdateTaskRequestV2Schema,
  "tasks/cancel": v2.CancelTaskRequestV2Schema,
};
const RESULTS = {
  "tasks/get": v2.GetTaskResultV2Schema,
  "tasks/update": v2.UpdateTaskResultV2Schema,
  "tasks/cancel": v2.CancelTaskResultV2Schema,
  "tools/call": v2.CreateTaskResultV2Schema,
};
const LISTEN = "subscriptions/listen";
const ACKNOWLEDGED = "notifications/subscriptions/acknowledged";
const TOLD = "notifications/tasks";
const DEMANDED = [
  ...Object.keys(REQUESTS).map((method) => `${method} request`),
  "tools/call declares tasks",
  "tools/call → task",
  "tasks/update → acknowledged",
  "tasks/cancel → acknowledged",
  ...STATUSES.map((status) => `tasks/get → ${status}`),
  "a task's result",
  LISTEN,
  ACKNOWLEDGED,
  TOLD,
];

// Where the package asks for more than the extension's text: what is taken for a member that is not there.
const EXCUSED = {
  "a task's result": {
    member: "resultType",
    taken: "complete",
    why: "the extension calls the inlined result an object of any members, with no type to be told by",
  },
};

const seen = new Map(DEMANDED.map((kind) => [kind, 0]));
const excuses = new Map();
let faults = 0;

function judge(kind, schema, value, where) {
  seen.set(kind, (seen.get(kind) ?? 0) + 1);
  const { success, error } = schema.safeParse(completed(kind, value));
  for (const issue of success ? [] : error.issues) {
    faults += 1;
    const path = issue.path.join(".") || "the whole";
    console.error(`${where}: ${kind}: ${path}: ${issue.message}\n  in ${JSON.stringify(value)}`);
  }
}

function completed(kind, value) {
  const excuse = EXCUSED[kind];
  if (!excuse || excuse.member in value) return value;
  excuses.set(excuse.why, (excuses.get(excuse.why) ?? 0) + 1);
  return { ...value, [excuse.member]: excuse.taken };
}

function judgeRequest(message, where) {
  const method = message.method;
  if (method in REQUESTS) judge(`${method} request`, REQUESTS[method], message, where);
  if (method === LISTEN) {
    judge(LISTEN, v2.TaskSubscriptionNotificationsV2Schema, message.params?.notifications, where);
  }
  if (method in RESULTS || method === LISTEN) {
    const declared = message.params?._meta?.[CAPABILITIES];
    judge(`${method} declares tasks`, v2.ClientTaskCapabilityEnvelopeV2Schema, declared, where);
  }
}

function judgeResult(method, result, where) {
  if (method === "tools/call" && result.resultType !== "task") return; // a result, or questions: no task
  const outcome = { "tools/call": "task", "tasks/get": result.status }[method] ?? "acknowledged";
  judge(`${method} → ${outcome}`, RESULTS[method], result, where);
  if (method === "tasks/get" && result.status === "completed") {
    judge("a task's result", v2.CallToolResultV2Schema, result.result, where);
  }
}

for (const trace of traces) {
  const asked = new Map(); // process and number of the entry → method
  const lines = readFileSync(trace, "ascii").split("\n").filter(Boolean);
  for (const [index, line] of lines.entries()) {
    const entry = JSON.parse(line);
    const { direction, message } = entry;
    const where = `${trace}:${index + 1}`;
    if (!message) continue;
    if (direction === "out") {
      asked.set(`${entry.pid} ${entry.seq}`, message.method);
      judgeRequest(message, where);
    } else if (message.method === ACKNOWLEDGED) {
      const honoured = message.params?.notifications;
      judge(ACKNOWLEDGED, v2.TaskSubscriptionAcknowledgedNotificationsV2Schema, honoured, where);
    } else if (message.method === TOLD) {
      judge(TOLD, v2.TaskStatusNotificationV2Schema, message, where);
    } else if (message.result) {
      const method = asked.get(`${entry.pid} ${entry.to}`);
      if (method in RESULTS) judgeResult(method, message.result, where);
    }
  }
}

for (const [kind, count] of seen) console.log(`${String(count).padStart(5)}  ${kind}`);
for (const [why, count] of excuses) console.log(`${String(count).padStart(5)}  excused: ${why}`);
const missing = DEMANDED.filter((kind) => seen.get(kind) === 0);
for (const kind of missing) console.error(`no ${kind} in the trace: nothing is proven of it`);
process.exit(faults || missing.length ? 1 : 0);
