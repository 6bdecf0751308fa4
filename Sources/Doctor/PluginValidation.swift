import Configuration
import Foundation
import HealthModel

/// `healthbus plugins validate`: everything that is wrong with a manifest and with the things that it names.
package struct PluginValidation: Sendable {
    package let findings: [PluginCheck.Finding]
    private let file: String
    /// nil when the manifest is refused.
    private let manifest: Manifest?

    package init(file: String, catalog: PluginCatalog) {
        self.file = file
        let reader = ManifestReader(file: file)
        manifest = reader.manifest
        let refused = reader.problems.map { problem in
            PluginCheck.Finding(
                member: problem.key, problem: problem.reason, line: problem.line, column: problem.column)
        }
        let places = FileManager.default.contents(atPath: file).map { JSONPlaces($0) } ?? JSONPlaces()
        // A file that can't be read as a manifest can still be checked in part.
        var checked =
            reader.manifest.map { PluginCheck($0, catalog: catalog).findings }
            ?? PluginCheck.unknownTypes(reader.types)
        for index in checked.indices { checked[index].line = places.line(of: checked[index].member) }
        findings = (refused + checked).enumerated()
            .sorted { ($0.element.line ?? .max, $0.offset) < ($1.element.line ?? .max, $1.offset) }.map(\.element)
    }

    /// `{plugin, file, valid, findings: [{member, problem, line, column}]}`.
    package var json: String {
        let value: Value = [
            "plugin": Value(manifest?.name), "file": .string(file), "valid": .bool(findings.isEmpty),
            "findings": .array(
                findings.map { finding in
                    [
                        "member": .string(finding.member), "problem": .string(finding.problem),
                        "line": Value(finding.line), "column": Value(finding.column),
                    ]
                }),
        ]
        return value.json(pretty: true)
    }

    package var text: String {
        if let manifest, findings.isEmpty {
            return "\(file) is valid: \(manifest.kind.rawValue) '\(manifest.name)'\n"
        }
        return findings.map { finding in
            let place = [finding.line, finding.column].compactMap { $0.map { ":\($0)" } }.joined()
            let member = finding.member.isEmpty ? "" : "'\(finding.member)' "
            return "\((file as NSString).lastPathComponent)\(place): \(member)\(finding.problem)\n"
        }.joined()
    }
}
