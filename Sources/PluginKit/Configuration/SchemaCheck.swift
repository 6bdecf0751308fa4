import Console
import HealthModel

/// Holds a configuration against a manifest's JSON Schema and fills in its defaults.
///
/// The part of JSON Schema that plugin manifests use: type, properties, required, additionalProperties, propertyNames, items, enum, minimum, maximum,
/// minLength, minItems, format (`sample-type`: an identifier of HealthKit's), $ref to the schema's own $defs, default. Anything not declared is refused: a misspelt option must not be an option that does nothing.
public struct SchemaCheck {
    let file: String
    /// The schema's `$defs`.
    let definitions: Value

    public init(file: String, definitions: Value = .null) {
        self.file = file
        self.definitions = definitions
    }

    /// - Throws: `ConfigurationError` with the key and what is allowed.
    public func resolve(_ value: Value, schema: Value, key: String = "configuration") throws(ConfigurationError)
        -> Value
    {
        if let name = schema["$ref"].string?.split(separator: "/").last {
            // A schema that holds itself has no defaults without end.
            if value.isNull { return .null }
            return try resolve(value, schema: definitions[String(name)], key: key)
        }
        if value.isNull, !schema["default"].isNull { return schema["default"] }
        if let allowed = schema["enum"].array, !value.isNull, !allowed.contains(value) {
            throw error(key, "must be one of \(allowed.map { $0.json() }.joined(separator: ", "))")
        }
        switch schema["type"].string {
        case "object": return try object(value, schema, key)
        case "array":
            guard !value.isNull else { return .array([]) }
            guard let elements = value.array else { throw error(key, "must be a list") }
            if let least = schema["minItems"].int, elements.count < least {
                throw error(key, least == 1 ? "mustn't be empty" : "must have at least \(least) entries")
            }
            var resolved: [Value] = []
            for (index, element) in elements.enumerated() {
                resolved.append(try resolve(element, schema: schema["items"], key: "\(key)[\(index)]"))
            }
            return .array(resolved)
        case "number", "integer":
            guard !value.isNull else { return .null }
            guard let number = value.double, schema["type"].string == "number" || value.int != nil else {
                throw error(key, schema["type"].string == "number" ? "must be a number" : "must be a whole number")
            }
            if let minimum = schema["minimum"].double, number < minimum {
                throw error(key, "must be at least \(JSONNumber.text(minimum))")
            }
            if let maximum = schema["maximum"].double, number > maximum {
                throw error(key, "must be at most \(JSONNumber.text(maximum))")
            }
            return value
        case "string":
            guard value.isNull || value.string != nil else { throw error(key, "must be a text") }
            if let text = value.string {
                guard text.utf8.count >= schema["minLength"].int ?? 0 else { throw error(key, "mustn't be empty") }
                try format(text, schema, key)
            }
            return value
        case "boolean":
            guard value.isNull || value.bool != nil else { throw error(key, "must be true or false") }
            return value
        default: return value
        }
    }

    private func object(_ value: Value, _ schema: Value, _ key: String) throws(ConfigurationError) -> Value {
        guard value.isNull || value.object != nil else { throw error(key, "must be an object") }
        let properties = schema["properties"].object ?? [:]
        func path(_ name: String) -> String { key.isEmpty ? name : "\(key).\(name)" }
        for name in (schema["required"].array ?? []).compactMap(\.string) where !value.isNull && value[name].isNull {
            throw error(path(name), "is missing")
        }
        var resolved: [String: Value] = [:]
        for (name, member) in value.object ?? [:] where properties[name] == nil {
            guard schema["additionalProperties"].object != nil else {
                let known = properties.keys.sorted().joined(separator: ", ")
                throw error(
                    path(name),
                    known.isEmpty ? "isn't known; there are no options here" : "isn't known; there are: \(known)")
            }
            try format(name, schema["propertyNames"], path(name))
            resolved[name] = try resolve(member, schema: schema["additionalProperties"], key: path(name))
        }
        for (name, property) in properties {
            let member = try resolve(value[name], schema: property, key: path(name))
            if !member.isNull { resolved[name] = member }
        }
        return .object(resolved)
    }

    private func format(_ text: String, _ schema: Value, _ key: String) throws(ConfigurationError) {
        guard schema["format"].string == "sample-type", HealthType.known(text) == nil else { return }
        let nearest = Nearest.to(text, among: HealthType.allKnown.keys.sorted())
        throw error(
            key,
            "isn't a type identifier of HealthKit's"
                + (nearest.map { "; the nearest is \($0)" } ?? ", such as HKQuantityTypeIdentifierStepCount"))
    }

    private func error(_ key: String, _ reason: String) -> ConfigurationError {
        ConfigurationError(file: file, key: key, reason: reason)
    }
}
