// Writes the TypeScript types of the HTTP interface as docs/openapi.yaml describes it: a type for
// each schema, and which of them a route takes and answers. What the document says that is not
// understood here is an error, so nothing is passed over.
//
// usage: node types_from_openapi.mjs DOCUMENT FILE
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";

const head = "// Made from docs/openapi.yaml by web/types_from_openapi.mjs: change the document instead.";

// What TypeScript cannot say of a value.
const untold = [
  "description", "examples", "default", "minimum", "maximum", "minLength", "maxLength", "pattern", "maxProperties",
  "unevaluatedProperties",
];
const understood = new Set([
  ...untold, "$ref", "type", "enum", "const", "oneOf", "anyOf", "allOf", "properties", "required", "additionalProperties",
  "propertyNames", "items", "minItems", "maxItems",
]);
const kLongestTuple = 4;

/// The document as YAML in, the types as TypeScript out.
export function typesFromOpenApi(yaml) {
  const document = parse(yaml);
  const types = new Types(document);
  const schemas = Object.entries(document.components?.schemas ?? {});
  const declared = schemas.map(([name, schema]) => types.declare(name, schema));
  return [head, ...declared, ...routes(document, types)].join("\n\n") + "\n";
}

// --- schemas

class Types {
  constructor(document) {
    this.document = document;
  }

  declare(name, schema) {
    this.check(schema, name);
    const comment = commentOn(schema.description);
    if (!isStructure(schema) || Array.isArray(schema.type)) {
      return `${comment}export type ${name} = ${this.type(schema, name)};`;
    }
    const { bases, members } = this.structure(schema, name);
    const parents = bases.length > 0 ? ` extends ${bases.join(", ")}` : "";
    return `${comment}export interface ${name}${parents} ${braces(members)}`;
  }

  type(schema, where) {
    return this.alternatives(schema, where).join(" | ");
  }

  /// What a value may be, one of these.
  alternatives(schema, where) {
    this.check(schema, where);
    if (schema.$ref !== undefined) {
      const name = schemaName(schema.$ref);
      return name ? [name] : this.alternatives(this.follow(schema.$ref), where);
    }
    if (schema.enum !== undefined || schema.const !== undefined) {
      return (schema.enum ?? [schema.const]).map((value) => JSON.stringify(value));
    }
    const choices = schema.oneOf ?? schema.anyOf;
    if (choices !== undefined) {
      return unique(choices.flatMap((choice) => this.alternatives(choice, where)));
    }
    if (schema.type === undefined && !isStructure(schema)) {
      return ["unknown"];
    }
    return unique([schema.type ?? "object"].flat().map((kind) => this.kind(kind, schema, where)));
  }

  kind(kind, schema, where) {
    switch (kind) {
      case "integer":
      case "number":
        return "number";
      case "string":
      case "boolean":
      case "null":
        return kind;
      case "array":
        return this.array(schema, where);
      case "object":
        return isStructure(schema) ? this.inlineObject(schema, where) : this.map(schema, where);
      default:
        throw new Error(`${where}: the type “${kind}” is not known`);
    }
  }

  array({ items = {}, minItems, maxItems }, where) {
    const choices = this.alternatives(items, `${where}[]`);
    const item = choices.join(" | ");
    if (minItems === maxItems && maxItems <= kLongestTuple) {
      return `[${Array(maxItems).fill(item).join(", ")}]`;
    }
    return choices.length > 1 || item.includes(" & ") ? `(${item})[]` : `${item}[]`;
  }

  map({ additionalProperties = {}, propertyNames }, where) {
    const value = additionalProperties === false ? "never" : this.type(additionalProperties, `${where}.*`);
    return propertyNames
      ? `Partial<Record<${this.type(propertyNames, where)}, ${value}>>`
      : `Record<string, ${value}>`;
  }

  inlineObject(schema, where) {
    const { bases, members } = this.structure(schema, where);
    return [...bases, ...(members.length > 0 || bases.length === 0 ? [braces(members)] : [])].join(" & ");
  }

  /// The parts of `allOf` that have a name are its bases. A part may ask for a property that another
  /// part has: that one is said again, as one that is always there.
  structure(schema, where) {
    const parts = schema.allOf ?? [];
    const bases = parts.filter((part) => part.$ref);
    const inline = parts.filter((part) => !part.$ref);
    inline.forEach((part) => this.check(part, where));
    const required = this.required(schema);
    const own = Object.assign({}, ...inline.map((part) => this.properties(part)), schema.properties);
    for (const base of bases) {
      const already = this.required(base);
      for (const [name, property] of Object.entries(this.properties(base))) {
        if (required.has(name) && !already.has(name)) {
          own[name] ??= property;
        }
      }
    }
    return {
      bases: bases.map((base) => this.type(base, where)),
      members: Object.entries(own).map(([name, one]) => this.member(name, one, required.has(name), `${where}.${name}`)),
    };
  }

  /// All that it has, also by its parts.
  properties(schema) {
    const { allOf = [], properties } = this.resolve(schema);
    return Object.assign({}, ...allOf.map((part) => this.properties(part)), properties);
  }

  /// The names of what is always there.
  required(schema) {
    const { allOf = [], required = [] } = this.resolve(schema);
    return new Set([...required, ...allOf.flatMap((part) => [...this.required(part)])]);
  }

  member(name, schema, required, where) {
    const comment = commentOn(schema.description ?? this.borrowed(schema));
    return `${comment}${key(name)}${required ? "" : "?"}: ${this.type(schema, where)};`;
  }

  /// What is said of a property elsewhere; a schema with a name says it there.
  borrowed({ $ref }) {
    return $ref && !schemaName($ref) ? this.follow($ref).description : undefined;
  }

  resolve(node) {
    return node.$ref === undefined ? node : this.resolve(this.follow(node.$ref));
  }

  follow(ref) {
    const names = ref.replace(/^#\//, "").split("/");
    const found = names.reduce((node, name) => node?.[name.replaceAll("~1", "/").replaceAll("~0", "~")], this.document);
    if (found === undefined) {
      throw new Error(`${ref} is not there`);
    }
    return found;
  }

  check(schema, where) {
    const strange = Object.keys(schema).find((word) => !understood.has(word));
    if (strange) {
      throw new Error(`${where}: “${strange}” is not understood`);
    }
    if (schema.$ref !== undefined) {
      this.follow(schema.$ref);
      const more = Object.keys(schema).find((word) => word !== "$ref" && !untold.includes(word));
      if (more) {
        throw new Error(`${where}: “${more}” beside $ref is not understood`);
      }
    }
    if (schema.properties && schema.additionalProperties) {
      throw new Error(`${where}: named properties and others beside them are not understood`);
    }
  }
}

function isStructure({ properties, allOf }) {
  return properties !== undefined || allOf !== undefined;
}

function schemaName(ref) {
  return /^#\/components\/schemas\/(\w+)$/.exec(ref)?.[1];
}

// --- routes

const json = "application/json";

function routes(document, types) {
  const found = { GetAnswers: [], PostAnswers: [], PostBodies: [], Events: [] };
  for (const [path, item] of Object.entries(document.paths ?? {})) {
    for (const [method, { summary, parameters = [], requestBody, responses }] of Object.entries(item)) {
      const at = route(path, parameters.map((one) => types.resolve(one)));
      const note = (kind, content) => {
        if (content?.schema) {
          const type = types.type(content.schema, `${method} ${path}`);
          if (!(kind in found)) {
            throw new Error(`${method} ${path}: only what GET and POST answer, and POST takes, is understood`);
          }
          found[kind].push(`${commentOn(summary)}${at}: ${type};`);
        }
      };
      const name = method[0].toUpperCase() + method.slice(1);
      const content = types.resolve(responses["200"] ?? {}).content ?? {};
      note(`${name}Answers`, content[json]);
      note(`${name}Bodies`, types.resolve(requestBody ?? {}).content?.[json]);
      for (const [event, schema] of Object.entries(content["text/event-stream"]?.["x-events"] ?? {})) {
        found.Events.push(`${key(event)}: ${types.type(schema, event)};`);
      }
    }
  }
  const about = {
    GetAnswers: "What GET answers when all is well, by path.",
    PostAnswers: "What POST answers when all is well, by path.",
    PostBodies: "What POST takes, by path.",
    Events: "What the stream of events tells, by the event's name.",
  };
  return Object.entries(found)
    .filter(([, members]) => members.length > 0)
    .map(([name, members]) => `${commentOn(about[name])}export interface ${name} ${braces(members)}`);
}

/// As the key of an interface: what stands in braces may be any number or text.
function route(path, parameters) {
  const pattern = path.replace(/\{(\w+)\}/g, (_, name) => {
    const schema = parameters.find((one) => one.in === "path" && one.name === name)?.schema;
    return `\${${schema?.type === "integer" ? "number" : "string"}}`;
  });
  return pattern === path ? JSON.stringify(path) : `[path: \`${pattern}\`]`;
}

// --- text

function commentOn(text) {
  if (!text) {
    return "";
  }
  const lines = text.trim().replaceAll("*/", "*\\/").split("\n");
  if (lines.length === 1) {
    return `/** ${lines[0]} */\n`;
  }
  return ["/**", ...lines.map((line) => ` * ${line}`.trimEnd()), " */\n"].join("\n");
}

function braces(members) {
  const inside = members.join("\n").replace(/^(?=.)/gm, "  ");
  return members.length > 0 ? `{\n${inside}\n}` : "{}";
}

function key(name) {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
}

function unique(list) {
  return [...new Set(list)];
}

// --- the program

function main([from, to]) {
  if (to === undefined) {
    console.error("usage: node types_from_openapi.mjs DOCUMENT FILE");
    process.exit(2);
  }
  let text;
  try {
    text = typesFromOpenApi(readFileSync(from, "utf8"));
  } catch (error) {
    console.error(`${from}: ${error.message}`);
    process.exit(1);
  }
  // Several build folders may write it at once, and somebody may read it meanwhile.
  const fresh = `${to}.${process.pid}`;
  mkdirSync(dirname(to), { recursive: true });
  writeFileSync(fresh, text);
  renameSync(fresh, to);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  main(process.argv.slice(2));
}
