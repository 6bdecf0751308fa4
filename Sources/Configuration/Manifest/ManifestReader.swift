import Foundation
import HealthModel
import Processes
import Protocol

/// Reads a manifest and finds everything that is wrong with it, each mistake with its line.
package struct ManifestReader {
    /// nil when something is wrong.
    package let manifest: Manifest?
    /// In the order of the file's lines.
    package let problems: [ConfigurationError]
    /// What "types" and "reads" list, even in a manifest that is refused.
    package let types: [String: [String]]

    package init(file: String) {
        guard let data = FileManager.default.contents(atPath: file) else {
            self.init(wrong: ConfigurationError(file: file, key: "", reason: "can't be read"))
            return
        }
        let value: Value
        let found: [ConfigurationError]
        do {
            value = try ConfigurationText.value(data, file: file)
            guard value.object != nil else {
                self.init(wrong: ConfigurationError(file: file, key: "", reason: "must be an object"))
                return
            }
            found = try ManifestSchema.problems(value, file: file)
        } catch {
            self.init(
                wrong: error as? ConfigurationError ?? ConfigurationError(file: file, key: "", reason: "\(error)"))
            return
        }
        var members = ManifestMembers(value: value, file: file, problems: found)
        let manifest = members.manifest()
        // The positions of members are needed only if one of the members is wrong.
        let problems =
            members.problems.isEmpty
            ? [] : members.problems.map { [places = JSONPlaces(data)] in $0.placed(places, in: file) }.inOrder(of: file)
        self.init(manifest: problems.isEmpty ? manifest : nil, problems: problems, types: Self.types(value))
    }

    private init(manifest: Manifest?, problems: [ConfigurationError], types: [String: [String]]) {
        (self.manifest, self.problems, self.types) = (manifest, problems, types)
    }

    private init(wrong: ConfigurationError) { self.init(manifest: nil, problems: [wrong], types: [:]) }

    private static func types(_ manifest: Value) -> [String: [String]] {
        ["types", "reads"].reduce(into: [:]) { $0[$1] = (manifest[$1].array ?? []).compactMap(\.string) }
    }
}

/// Checks a manifest's members against the rules that its schema can't express.
private struct ManifestMembers {
    let value: Value
    let file: String
    var problems: [ConfigurationError]

    /// Doesn't report again what the schema has already refused.
    private mutating func add(_ key: String, _ reason: String) {
        add(ConfigurationError(file: file, key: key, reason: reason))
    }

    private mutating func add(_ problem: ConfigurationError) {
        guard !problems.contains(where: { $0.key == problem.key || $0.key.hasPrefix(problem.key + ".") }) else {
            return
        }
        problems.append(problem)
    }

    private mutating func text(_ key: String) -> String {
        guard let text = value[key].string, !text.isEmpty else {
            add(key, "must be a text")
            return ""
        }
        return text
    }

    private func texts(_ key: String) -> [String] { (value[key].array ?? []).compactMap(\.string) }

    /// nil when anything is wrong; `problems` then says what.
    mutating func manifest() -> Manifest? {
        let name = text("name")
        if !name.isEmpty, !StackConfiguration.isName(name) {
            add("name", "must be a-z, 0-9 and hyphens, at most 64")
        }
        let kind = Manifest.Kind(rawValue: text("kind"))
        if kind == nil {
            add("kind", "must be one of \(Manifest.Kind.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        var exec: ExecCommand?
        do { exec = try kind.flatMap { try ExecCommand(manifest: value, kind: $0, file: file) } } catch {
            add(error as? ConfigurationError ?? ConfigurationError(file: file, key: "exec", reason: "\(error)"))
        }
        let executable = value["exec"].isNull ? text("executable") : ExecCommand.host
        let (low, high) = (value["protocol"]["min"].int, value["protocol"]["max"].int)
        if low == nil || high == nil || low ?? 0 > high ?? 0 {
            add("protocol", "must have the whole numbers min and max, min not above max")
        } else if let low, let high, !(Int(low)...Int(high)).contains(ProtocolVersion.current.major) {
            add("protocol", "speaks protocol \(low) to \(high), this release speaks \(ProtocolVersion.current)")
        }
        if value["version"].int == nil { add("version", "must be a whole number") }
        let family = value["family"].string
        if let family, family == "daily" || !StackConfiguration.isName(family) {
            add(
                "family", "must be a-z, 0-9 and hyphens, at most 64, and not daily, which belongs to the summaries")
        }
        for (index, figure) in (value["figures"].array ?? []).enumerated() {
            guard let member = figure["name"].string?.split(separator: ".").first.map(String.init),
                FigureDeclaration.reserved.contains(member)
            else { continue }
            add("figures[\(index)].name", "is \"\(member)\", which every summary already has; choose another name")
        }
        var wrong: [ConfigurationError] = []
        let rights = PluginRights(value, kind: kind, file: file, problems: &wrong)
        for problem in wrong { add(problem) }
        // A plugin that declares no options accepts none: undeclared options are refused.
        let configuration = value["configuration"].isNull ? ["type": "object"] : value["configuration"]
        if configuration["type"].string != "object" { add("configuration.type", "must be \"object\"") }
        let destination = kind == .uploader ? DestinationDeclaration(manifest: value) : nil
        if !value["destination"].isNull {
            for (member, option) in destination?.options ?? [] where configuration["properties"][option].isNull {
                add("destination.\(member)", "is \"\(option)\", which isn't one of the options in 'configuration'")
            }
            if destination?.kind == .database, destination?.variable != nil {
                add("destination.variable", "would be shown; that of an address with a password is the token's")
            }
            if let kind, destination == nil { add("destination", "is for the kind uploader, not \(kind.rawValue)") }
        }
        guard problems.isEmpty, let kind, let low, let high else { return nil }
        return Manifest(
            name: name, version: Int(value["version"].int ?? 0), protocolVersions: Int(low)...Int(high), kind: kind,
            executable: executable, exec: exec, types: texts("types"), reads: texts("reads"), family: family,
            figures: (value["figures"].array ?? []).compactMap { FigureDeclaration($0) },
            place: Int(value["place"].int ?? 100), destination: destination, consumes: texts("consumes"),
            produces: texts("produces"),
            rights: rights, restart: value["restart"].string.flatMap { RestartPolicy.Mode(rawValue: $0) } ?? .always,
            priority: value["priority"].string.flatMap { Manifest.Priority(rawValue: $0) } ?? .normal,
            configuration: configuration, file: file)
    }
}
