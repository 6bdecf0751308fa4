import HealthModel
import JSON
import Logging

/// Checks a configuration against a manifest's JSON Schema and fills in its defaults.
///
/// The part of JSON Schema that plugin manifests use: type, properties, required, additionalProperties, propertyNames,
/// items, enum, minimum, maximum, minLength, minItems, format (`sample-type`: a HealthKit identifier; `path`: a file or
/// folder, made absolute), $ref to the schema's own $defs, default. Anything not declared is refused, so that a misspelled
/// option isn't silently ignored.
package struct SchemaCheck {
    let file: String
    /// The schema's `$defs`.
    let definitions: Value
    /// Whether members that are left out get their defaults. Who only looks for mistakes saves most of the work.
    let fills: Bool

    package init(file: String, definitions: Value = .null, fills: Bool = true) {
        (self.file, self.definitions, self.fills) = (file, definitions, fills)
    }

    /// - Throws: `ConfigurationError` with the key and what is allowed.
    package func resolve(_ value: Value, schema: Value, key: String = "configuration") throws(ConfigurationError)
        -> Value
    {
        let (resolved, problems) = check(value, schema: schema, key: key)
        if let first = problems.first { throw first }
        return resolved
    }

    /// Returns the value with its defaults and without its invalid parts, and all errors.
    package func check(
        _ value: Value, schema: Value, key: String = "configuration"
    ) -> (resolved: Value, problems: [ConfigurationError]) {
        var problems: [ConfigurationError] = []
        let resolved = resolve(value, schema, key, &problems)
        return (resolved, problems)
    }

    private func resolve(_ value: Value, _ schema: Value, _ key: String, _ problems: inout [ConfigurationError])
        -> Value
    {
        if let name = schema["$ref"].string?.split(separator: "/").last {
            // A schema that contains itself must not yield endless defaults.
            return value.isNull ? .null : resolve(value, definitions[String(name)], key, &problems)
        }
        if value.isNull, !schema["default"].isNull { return schema["default"] }
        if let allowed = schema["enum"].array, !value.isNull, !allowed.contains(value) {
            let nearest = value.string.flatMap { Nearest.to($0, among: allowed.compactMap(\.string)) }
            problems.append(
                error(
                    key,
                    "must be one of \(allowed.map { $0.json() }.joined(separator: ", "))"
                        + (nearest.map { "; did you mean \"\($0)\"?" } ?? "")))
            return .null
        }
        switch schema["type"].string {
        case "object": return object(value, schema, key, &problems)
        case "array":
            guard !value.isNull else { return .array([]) }
            if value.array != nil { return array(value, schema, key, &problems) }
        default: break
        }
        if let reason = refusal(of: value, schema) {
            problems.append(error(key, reason))
            return .null
        }
        if schema["format"].string == "path", let path = value.string, !path.isEmpty {
            return .string(PluginPath(path, beside: file).file)
        }
        return value
    }

    /// What is wrong with a value that contains no other values; nil if the value fits the schema.
    private func refusal(of value: Value, _ schema: Value) -> String? {
        guard !value.isNull else { return nil }
        switch schema["type"].string {
        case "array": return "must be a list"
        case "number", "integer":
            guard let number = value.double, schema["type"].string == "number" || value.int != nil else {
                return schema["type"].string == "number" ? "must be a number" : "must be a whole number"
            }
            if let minimum = schema["minimum"].double, number < minimum {
                return "must be at least \(JSONNumber.text(minimum))"
            }
            if let maximum = schema["maximum"].double, number > maximum {
                return "must be at most \(JSONNumber.text(maximum))"
            }
            return nil
        case "string":
            guard let text = value.string else { return "must be a text" }
            if let least = schema["minLength"].int, text.unicodeScalars.count < least {
                return least == 1 ? "mustn't be empty" : "must have at least \(least) characters"
            }
            return format(text, schema)
        case "boolean": return value.bool == nil ? "must be true or false" : nil
        default: return nil
        }
    }

    private func array(_ value: Value, _ schema: Value, _ key: String, _ problems: inout [ConfigurationError]) -> Value
    {
        let elements = value.array ?? []
        if let least = schema["minItems"].int, elements.count < least {
            problems.append(error(key, least == 1 ? "mustn't be empty" : "must have at least \(least) entries"))
        }
        return .array(
            elements.enumerated().map { index, element in
                resolve(element, schema["items"], "\(key)[\(index)]", &problems)
            })
    }

    private func object(_ value: Value, _ schema: Value, _ key: String, _ problems: inout [ConfigurationError]) -> Value
    {
        guard value.isNull || value.object != nil else {
            problems.append(error(key, "must be an object"))
            return .null
        }
        let properties = schema["properties"].object ?? [:]
        let given = value.object ?? [:]
        func path(_ name: String) -> String { key.isEmpty ? name : "\(key).\(name)" }
        for name in (schema["required"].array ?? []).compactMap(\.string) where !value.isNull && value[name].isNull {
            problems.append(error(path(name), "is missing"))
        }
        var resolved: [String: Value] = [:]
        for (name, member) in Value.inOrder(given) where properties[name] == nil {
            guard schema["additionalProperties"].object != nil else {
                problems.append(error(path(name), Self.unknown(name, among: properties.keys.sorted())))
                continue
            }
            if let reason = format(name, schema["propertyNames"]) { problems.append(error(path(name), reason)) }
            resolved[name] = resolve(member, schema["additionalProperties"], path(name), &problems)
        }
        for (name, property) in Value.inOrder(fills ? properties : properties.filter { given[$0.key] != nil }) {
            let member = resolve(given[name] ?? .null, property, path(name), &problems)
            if !member.isNull { resolved[name] = member }
        }
        return .object(resolved)
    }

    /// An error that lists the existing names, with the nearest first.
    static func unknown(_ name: String, among known: [String]) -> String {
        guard !known.isEmpty else { return "isn't known; there are no options here" }
        let nearest = Nearest.to(name, among: known).map { "did you mean '\($0)'? " } ?? ""
        return "isn't known; \(nearest)use one of \(known.joined(separator: ", "))"
    }

    private func format(_ text: String, _ schema: Value) -> String? {
        guard schema["format"].string == "sample-type", HealthType.known(text) == nil else { return nil }
        return "isn't a HealthKit type identifier"
            + (HealthType.nearest(to: text).map { "; the nearest is \($0)" }
                ?? ", such as HKQuantityTypeIdentifierStepCount")
    }

    private func error(_ key: String, _ reason: String) -> ConfigurationError {
        ConfigurationError(file: file, key: key, reason: reason)
    }
}
