import Configuration
import Foundation
import HealthModel

/// Checks a plugin for problems beyond the errors found when its manifest is read. Pure, except for checking whether
/// its program exists.
package struct PluginCheck: Sendable {
    package struct Finding: Sendable, Equatable {
        /// The manifest's member.
        package var member: String
        package var problem: String
        /// Its line in the manifest, counted from 1; nil if that isn't known.
        package var line: Int?
        package var column: Int?

        package init(member: String, problem: String, line: Int? = nil, column: Int? = nil) {
            (self.member, self.problem, self.line, self.column) = (member, problem, line, column)
        }
    }

    package let manifest: Manifest
    package let findings: [Finding]

    package init(_ manifest: Manifest, catalog: PluginCatalog) {
        self.manifest = manifest
        var findings: [Finding] = []
        func find(_ member: String, _ problem: String) { findings.append(Finding(member: member, problem: problem)) }
        if let command = manifest.exec {
            do { _ = try command.program() } catch { find(error.key, error.reason) }
        } else if !FileManager.default.isExecutableFile(atPath: catalog.program(manifest)) {
            find("executable", "names \(catalog.program(manifest)), which isn't a file that can be run; is it built?")
        }
        findings += Self.unknownTypes(["types": manifest.types, "reads": manifest.reads])
        if manifest.kind == .handler {
            if manifest.types.isEmpty && manifest.reads.isEmpty {
                find("types", "is empty, and so is 'reads': a handler without samples computes nothing")
            }
            for type in manifest.types where manifest.reads.contains(type) {
                find("reads", "names \(type), which 'types' already names")
            }
            for type in manifest.types where type != "*" {
                let other = catalog.manifests.values
                    .filter { $0.kind == .handler && $0.types.contains(type) && $0.name != manifest.name }
                    .map(\.name).min()
                // A stand-in for a shipped plugin handles all types of that plugin.
                guard let other, !Self.standsIn(manifest, for: catalog.manifests[other]) else { continue }
                find("types", "names \(type), which '\(other)' already handles; name it in 'reads'")
            }
        }
        for figure in manifest.figures {
            guard let type = figure.explanation?.type, !manifest.types.contains(type), !manifest.reads.contains(type)
            else { continue }
            find("figures", "makes '\(figure.path[0])' from \(type), which neither 'types' nor 'reads' names")
        }
        do {
            let defaults = try SchemaCheck(file: manifest.file).resolve(.null, schema: manifest.configuration)
            _ = try SchemaCheck(file: manifest.file).resolve(defaults, schema: manifest.configuration)
        } catch { find("configuration", "has a default that it refuses: \(error.key) \(error.reason)") }
        self.findings = findings
    }

    /// Identifiers that aren't HealthKit's.
    /// - Parameter lists: the lists of types, keyed by the manifest's member that holds them.
    static func unknownTypes(_ lists: [String: [String]]) -> [Finding] {
        lists.sorted { $0.key > $1.key }.flatMap { member, types in
            types.enumerated().filter { $0.element != "*" && HealthType.known($0.element) == nil }.map { index, type in
                return Finding(
                    member: "\(member)[\(index)]",
                    problem: "is \(type), which isn't a HealthKit type identifier"
                        + (HealthType.nearest(to: type).map { "; did you mean \($0)?" } ?? ""))
            }
        }
    }

    private static func standsIn(_ manifest: Manifest, for other: Manifest?) -> Bool {
        other.map { Set($0.types).isSubset(of: manifest.types) } ?? false
    }
}
