// The API's own description, made readable.

import { get } from "./lib/api.js";
import { h, replace, table } from "./lib/dom.js";

function kind(schema, components) {
  if (!schema) return "";
  if (schema.$ref) return schema.$ref.split("/").pop();
  if (schema.anyOf) return schema.anyOf.map((each) => kind(each, components)).join(" or ");
  if (schema.type === "array") return `list of ${kind(schema.items, components) || "anything"}`;
  return schema.enum ? schema.enum.join(" | ") : schema.type ?? "anything";
}

function rows(operation, components) {
  const body = operation.requestBody?.content["application/json"]?.schema;
  const inBody = Object.entries(body?.properties ?? {}).map(([name, schema]) => ({
    name, in: "body", required: body.required?.includes(name), schema,
  }));
  const file = operation.requestBody && !body ? [{ name: "the file", in: "body", required: true, schema: {} }] : [];
  return [...operation.parameters, ...inBody, ...file].map((each) => [
    h("code", each.name), each.in, each.required ? "yes" : "", kind(each.schema, components), each.schema.description ?? "",
  ]);
}

function operationCard(path, method, operation, components) {
  const given = operation.responses[200].content?.["application/json"].schema;
  const parameters = rows(operation, components);
  return h("details.card", h("summary", h("code", `${method.toUpperCase()} ${path}`), ` ${operation.summary}`),
    operation.description ? h("p", operation.description) : null,
    parameters.length ? table(`Parameters of ${method} ${path}`, ["Name", "In", "Needed", "Kind", "Meaning"], parameters) : null,
    h("p.quiet", given ? `Gives ${kind(given, components)}.` : "Gives something else than JSON."));
}

async function show() {
  const place = document.getElementById("content");
  try {
    const api = await get("/api/openapi.json");
    const groups = new Map();
    for (const [path, methods] of Object.entries(api.paths)) {
      for (const [method, operation] of Object.entries(methods)) {
        const group = operation.tags[0];
        groups.set(group, [...(groups.get(group) ?? []), operationCard(path, method, operation, api.components.schemas)]);
      }
    }
    replace(place, h("h1", "API"), h("p", api.info.description),
      [...groups].map(([group, cards]) => h("section", h("h2", group), cards)));
  } catch (error) {
    replace(place, h("h1", "API"), h("div.trouble", h("p", error.message), h("p", "Open the app first, then this page again.")));
  }
}

show();
