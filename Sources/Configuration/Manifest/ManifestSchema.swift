import HealthModel

/// What a manifest may contain. Identical to `docs/plugin.schema.json`, which is for people and editors; this copy is
/// built into the programs.
package enum ManifestSchema {
    package static let text = #"""
        {
          "$schema": "https://json-schema.org/draft/2020-12/schema",
          "title": "plugin.json",
          "description": "What a healthbus plugin says about itself. Comments and trailing commas are allowed in the file.",
          "type": "object",
          "required": ["name", "version", "protocol", "kind"],
          "oneOf": [{ "required": ["executable"] }, { "required": ["exec"] }],
          "additionalProperties": false,
          "properties": {
            "$schema": { "type": "string", "description": "For editors." },
            "name": {
              "type": "string", "pattern": "^[a-z0-9-]{1,64}$",
              "description": "The plugin's name, unique among those of a stack: a-z, 0-9 and hyphens, at most 64."
            },
            "version": {
              "type": "integer", "minimum": 0, "maximum": 1000000000,
              "description": "Changing it makes a handler compute every day again."
            },
            "protocol": {
              "type": "object", "required": ["min", "max"], "additionalProperties": false,
              "description": "The major protocol versions that it speaks.",
              "properties": { "min": { "type": "integer", "minimum": 1 }, "max": { "type": "integer", "minimum": 1 } }
            },
            "kind": {
              "type": "string",
              "enum": [
                "hub", "ingest", "backend", "observer", "debouncer", "handler", "consolidator", "uploader", "notifier",
                "dashboard"
              ]
            },
            "executable": {
              "type": "string", "minLength": 1,
              "description": "The program, beside healthbus; with a slash, a path from the plugin's folder."
            },
            "exec": {
              "type": "array", "minItems": 1, "items": { "type": "string" },
              "description": "For a handler in any language, instead of executable: a command, run in the plugin's folder."
            },
            "limits": {
              "type": "object", "additionalProperties": false,
              "description": "For exec.",
              "properties": {
                "startSeconds": {
                  "type": "number", "minimum": 0.1, "maximum": 600, "default": 10, "description": "Until it answers hello."
                },
                "daySeconds": {
                  "type": "number", "minimum": 0.1, "maximum": 3600, "default": 30, "description": "For one day."
                }
              }
            },
            "types": {
              "type": "array", "items": { "type": "string", "minLength": 1 },
              "description": "Sample types that a handler handles; [\"*\"] is every type that no other handler in the stack names."
            },
            "reads": {
              "type": "array", "items": { "type": "string", "minLength": 1 },
              "description": "Sample types that a handler gets as well, though another one handles them."
            },
            "family": {
              "type": "string", "pattern": "^[a-z0-9-]{1,64}$",
              "description": "The family under which a handler's samples are delivered, the last part of the backend's path; if left out, its instance's name where that is a family, else other."
            },
            "figures": {
              "type": "array", "items": { "$ref": "#/$defs/figure" },
              "description": "What a handler computes for a day: how tables show it, and how it is explained."
            },
            "place": {
              "type": "integer", "minimum": 0, "maximum": 1000, "default": 100,
              "description": "The position of its figures among those of other handlers, lowest first."
            },
            "destination": {
              "type": "object", "required": ["kind", "place"], "additionalProperties": false,
              "description": "For the kind uploader: where it delivers to, and what is kept there.",
              "properties": {
                "kind": {
                  "type": "string", "enum": ["backend", "server", "database", "folder", "broker"],
                  "description": "What its address is: the URL of a server with the backend's contract, of another HTTP server, or of a database, which isn't shown; a folder's path; an MQTT broker's address."
                },
                "word": { "type": "string", "minLength": 1, "description": "What people call it. Default: its kind." },
                "place": {
                  "type": "array", "minItems": 1, "items": { "type": "string", "minLength": 1 },
                  "description": "The options that say where its things are, the address first."
                },
                "variable": { "type": "string", "minLength": 1, "description": "The environment variable with the address." },
                "keeps": {
                  "type": "string", "enum": ["versions", "latest", "files"], "default": "versions",
                  "description": "The highest version of each element and tombstones; whatever comes last; or files."
                },
                "verified": { "type": "boolean", "default": true, "description": "Whether what it keeps can be compared." },
                "token": {
                  "type": "object", "required": ["option"], "additionalProperties": false,
                  "description": "The secret that it requires: the option that names its file, the environment variable that may hold it, what people call it.",
                  "properties": {
                    "option": { "type": "string", "minLength": 1 },
                    "variable": { "type": "string", "minLength": 1 },
                    "word": { "type": "string", "minLength": 1, "default": "token" }
                  }
                },
                "people": {
                  "type": "string", "minLength": 1,
                  "description": "The option that says who each user is there: an object with an identifier for each."
                }
              }
            },
            "consumes": { "type": "array", "items": { "type": "string" }, "description": "Topics it hears." },
            "produces": {
              "type": "array", "items": { "type": "string" },
              "description": "Topics it publishes; with events.<name> the uploader delivers a handler's events."
            },
            "entitlements": {
              "type": "array", "items": { "type": "string", "enum": ["health", "background-delivery", "location-always"] },
              "description": "Like an app's entitlements."
            },
            "backgroundModes": {
              "type": "array", "items": { "type": "string", "enum": ["processing", "fetch", "remote-notification"] },
              "description": "Like UIBackgroundModes."
            },
            "permittedTasks": {
              "type": "array", "items": { "type": "string" },
              "description": "Like BGTaskSchedulerPermittedIdentifiers: tasks it hosts."
            },
            "triggers": {
              "type": "array", "items": { "type": "string" },
              "description": "For a handler: sample types, and times of day (00:01), that make its sync run."
            },
            "configuration": {
              "$ref": "#/$defs/options",
              "description": "Its options, as a JSON Schema with defaults. Anything not declared is refused."
            },
            "restart": {
              "type": "string", "enum": ["always", "on-failure", "never"], "default": "always",
              "description": "Whether the supervisor restarts it: whenever it ends, unless it ends with 0, or never."
            },
            "priority": {
              "type": "string", "enum": ["normal", "low"], "default": "normal",
              "description": "Its share of a busy processor. low: little while other processes need it."
            }
          },
          "$defs": {
            "figure": {
              "type": "object", "required": ["name"], "additionalProperties": false,
              "properties": {
                "name": {
                  "type": "string", "minLength": 1,
                  "description": "The member of the daily summary; with a dot, a member within one: heartRate.average."
                },
                "form": {
                  "type": "string", "enum": ["number", "list", "object"],
                  "description": "What it is: a day without it has null, [] or {}. Default: number."
                },
                "unit": { "type": "string", "description": "As shown to people." },
                "hourly": {
                  "type": "string", "minLength": 1,
                  "description": "Which of the handler's hourly figures shows it by hour, for healthbus days --hourly; if left out, there is none."
                },
                "explain": {
                  "type": "object", "required": ["names", "type", "rule"], "additionalProperties": false,
                  "description": "How it follows from samples, for healthbus explain; if left out, only its handler and samples are shown.",
                  "properties": {
                    "names": {
                      "type": "array", "minItems": 1, "items": { "type": "string", "minLength": 1 },
                      "description": "What people may call it; the first is its name."
                    },
                    "type": { "type": "string", "minLength": 1, "description": "The sample type it is made from." },
                    "rule": {
                      "type": "string",
                      "enum": ["total", "average", "latest", "sleep", "stand-hours", "count", "workouts", "visits"],
                      "description": "Overlapping sources merged and added up; the average; the day's last sample; and the rules for sleep, stand hours, categories, workouts and visits."
                    }
                  }
                },
                "column": {
                  "type": "object", "required": ["title"], "additionalProperties": false,
                  "description": "Its column in healthbus days; if left out, it has none.",
                  "properties": {
                    "title": { "type": "string", "minLength": 1 },
                    "form": {
                      "type": "string", "enum": ["number", "clock", "activities", "places"],
                      "description": "A number; minutes as 7:05; a list's activities with their minutes, or its places with their time. Default: number."
                    },
                    "digits": { "type": "integer", "minimum": 0, "maximum": 6, "description": "After the point; none if left out." },
                    "dividedBy": { "type": "number", "minimum": 0.000001, "description": "1000 shows metres as kilometres." },
                    "suffix": { "type": "string", "description": "The text after each number." },
                    "givesWay": {
                      "type": "integer", "minimum": 1,
                      "description": "When a narrow screen drops it: 1 goes first. If left out, never."
                    }
                  }
                }
              }
            },
            "options": {
              "type": "object", "additionalProperties": false,
              "properties": {
                "type": { "type": "string", "enum": ["object", "array", "string", "number", "integer", "boolean"] },
                "description": { "type": "string" },
                "default": {},
                "enum": { "type": "array", "items": {} },
                "minimum": { "type": "number" },
                "maximum": { "type": "number" },
                "minLength": { "type": "integer", "minimum": 0 },
                "format": { "type": "string", "enum": ["sample-type", "path"] },
                "properties": { "type": "object", "additionalProperties": { "$ref": "#/$defs/options" } },
                "additionalProperties": {
                  "description": "A schema. False is the default in any case: an undeclared member is refused."
                },
                "propertyNames": { "$ref": "#/$defs/options" },
                "items": { "$ref": "#/$defs/options" }
              }
            }
          }
        }

        """#

    /// Read once: every process reads all manifests when it starts.
    private static let schema = Result { try Value(json: text.utf8) }

    /// Everything that is wrong, each mistake with the file, the member and what is allowed.
    /// - Throws: an error if the schema itself isn't JSON.
    static func problems(_ manifest: Value, file: String) throws -> [ConfigurationError] {
        let schema = try schema.get()
        return SchemaCheck(file: file, definitions: schema["$defs"], fills: false)
            .check(manifest, schema: schema, key: "").problems
    }
}
