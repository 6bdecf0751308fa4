import HealthModel

/// What a manifest may hold. The same as `docs/plugin.schema.json`, for people and editors; a program has it with it.
package enum ManifestSchema {
    package static let text = #"""
        {
          "$schema": "https://json-schema.org/draft/2020-12/schema",
          "title": "plugin.json",
          "description": "What a healthbus plugin says of itself. Comments and trailing commas are allowed in the file.",
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
              "description": "A change of it makes a handler compute every day again."
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
              "description": "The program, beside healthbus; with a slash a path from the plugin's folder."
            },
            "exec": {
              "type": "array", "minItems": 1, "items": { "type": "string" },
              "description": "Of a handler in any language, in place of executable: a command, run in the plugin's folder."
            },
            "limits": {
              "type": "object", "additionalProperties": false,
              "description": "Of exec.",
              "properties": {
                "startSeconds": {
                  "type": "number", "minimum": 0.1, "maximum": 600, "default": 10, "description": "Until it has answered hello."
                },
                "daySeconds": {
                  "type": "number", "minimum": 0.1, "maximum": 3600, "default": 30, "description": "For one day."
                }
              }
            },
            "types": {
              "type": "array", "items": { "type": "string", "minLength": 1 },
              "description": "Sample types that a handler handles; [\"*\"] is every type that no other handler of the stack names."
            },
            "reads": {
              "type": "array", "items": { "type": "string", "minLength": 1 },
              "description": "Sample types that a handler gets beside them, though another one handles them."
            },
            "family": {
              "type": "string", "pattern": "^[a-z0-9-]{1,64}$",
              "description": "Under which family a handler's samples are delivered, the last part of the backend's path; left out: its instance's name where that is a family, else other."
            },
            "figures": {
              "type": "array", "items": { "$ref": "#/$defs/figure" },
              "description": "What a handler gives for a day: how tables show it, and how it is explained."
            },
            "place": {
              "type": "integer", "minimum": 0, "maximum": 1000, "default": 100,
              "description": "Where its figures stand among those of other handlers, the least first."
            },
            "consumes": { "type": "array", "items": { "type": "string" }, "description": "Topics that it hears." },
            "produces": {
              "type": "array", "items": { "type": "string" },
              "description": "Topics that it publishes; with events.<name> the uploader delivers a handler's events."
            },
            "entitlements": {
              "type": "array", "items": { "type": "string", "enum": ["health", "background-delivery"] },
              "description": "As an app's entitlements."
            },
            "backgroundModes": {
              "type": "array", "items": { "type": "string", "enum": ["processing", "fetch", "remote-notification"] },
              "description": "As UIBackgroundModes."
            },
            "permittedTasks": {
              "type": "array", "items": { "type": "string" },
              "description": "As BGTaskSchedulerPermittedIdentifiers: tasks that it hosts."
            },
            "triggers": {
              "type": "array", "items": { "type": "string" },
              "description": "Of a handler: sample types, and times of day (00:01), that make its sync run."
            },
            "configuration": {
              "$ref": "#/$defs/options",
              "description": "Its options, as a JSON Schema with defaults. What isn't declared is refused."
            },
            "restart": {
              "type": "string", "enum": ["always", "on-failure", "never"], "default": "always",
              "description": "Whether the supervisor starts it again: whenever it ends, unless it ends with 0, or not at all."
            }
          },
          "$defs": {
            "figure": {
              "type": "object", "required": ["name"], "additionalProperties": false,
              "properties": {
                "name": {
                  "type": "string", "minLength": 1,
                  "description": "The member of the daily summary; with a dot a member of one: heartRate.average."
                },
                "form": {
                  "type": "string", "enum": ["number", "list", "object"],
                  "description": "What it is: a day without it has null, [] or {}. number where it is left out."
                },
                "unit": { "type": "string", "description": "As people are told it." },
                "hourly": {
                  "type": "string", "minLength": 1,
                  "description": "Which of the handler's hourly figures it is by hour, for healthbus days --hourly; left out: there is none."
                },
                "explain": {
                  "type": "object", "required": ["names", "type", "rule"], "additionalProperties": false,
                  "description": "How it follows from samples, for healthbus explain; left out: it can't be explained.",
                  "properties": {
                    "names": {
                      "type": "array", "minItems": 1, "items": { "type": "string", "minLength": 1 },
                      "description": "What people may call it; the first is its name."
                    },
                    "type": { "type": "string", "minLength": 1, "description": "The sample type that it is made from." },
                    "rule": {
                      "type": "string",
                      "enum": ["total", "average", "latest", "sleep", "stand-hours", "count", "workouts"],
                      "description": "Overlapping sources merged and added up; the average; the day's last sample; and those of sleep, stand hours, categories and workouts."
                    }
                  }
                },
                "column": {
                  "type": "object", "required": ["title"], "additionalProperties": false,
                  "description": "Its column in healthbus days; left out: it has none.",
                  "properties": {
                    "title": { "type": "string", "minLength": 1 },
                    "form": {
                      "type": "string", "enum": ["number", "clock", "activities"],
                      "description": "A number; minutes as 7:05; a list's activities with their minutes. number where it is left out."
                    },
                    "digits": { "type": "integer", "minimum": 0, "maximum": 6, "description": "After the point; none where it is left out." },
                    "dividedBy": { "type": "number", "minimum": 0.000001, "description": "1000 shows metres as kilometres." },
                    "suffix": { "type": "string", "description": "What stands after each number." },
                    "givesWay": {
                      "type": "integer", "minimum": 1,
                      "description": "When it is left out on a narrow screen: 1 goes first. Left out: never."
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
                "format": { "type": "string", "enum": ["sample-type"] },
                "properties": { "type": "object", "additionalProperties": { "$ref": "#/$defs/options" } },
                "additionalProperties": {
                  "description": "A schema; false is what is always so: a member that isn't declared is refused."
                },
                "propertyNames": { "$ref": "#/$defs/options" },
                "items": { "$ref": "#/$defs/options" }
              }
            }
          }
        }

        """#

    /// - Throws: `ConfigurationError` with the file, the member and what is allowed.
    static func check(_ manifest: Value, file: String) throws {
        let schema = try Value(json: text.utf8)
        _ = try SchemaCheck(file: file, definitions: schema["$defs"]).resolve(manifest, schema: schema, key: "")
    }
}
