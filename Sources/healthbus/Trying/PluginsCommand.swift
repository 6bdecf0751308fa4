import Configuration
import Conformance
import Control
import Doctor
import Foundation
import HealthModel
import Inspection
import Logging
import Terminal

enum PluginsCommand: Command {
    static let help = CommandHelp(
        name: "healthbus plugins",
        summary: "List, show or check plugins, begin a new one, or test one against the contract.",
        positionals: [.init("list|show|validate|new|test"), .init("plugin", isRequired: false)],
        options: [
            .config, .json,
            .init("--language", value: "python|swift|node", help: "new: in which language (default: python)"),
            .init(
                "--types", value: "type", repeats: true, help: "new: sample types it gets (default: step count)"),
            .init("--output", short: "-o", value: "folder", help: "new: where to write it (default: its name)"),
            .init("--only", value: "case", help: "test: only this case"),
        ],
        examples: [
            "healthbus plugins list", "healthbus plugins show sleep",
            "healthbus plugins new my-hours --language python",
            "healthbus plugins test my-hours",
        ])

    private enum Action: String, CaseIterable {
        case list, show, validate, new, test
    }

    static func run(_ arguments: Arguments) throws {
        let action: Action = try arguments.action()
        try refuseOthers(action, arguments)
        let catalog = try PluginCatalog.standard()
        guard action != .list else { return try list(catalog, arguments) }
        guard arguments.positionals.count == 2 else {
            let what = action == .new ? "name" : "plugin"
            throw Failure.usage("<\(what)> is missing", hint: "usage: healthbus plugins \(action.rawValue) <\(what)>")
        }
        let name = arguments.positionals[1]
        switch action {
        case .list: return
        case .show: try show(try manifest(name, catalog), catalog, arguments)
        case .validate: try validate(try manifestFile(name, catalog), catalog, arguments)
        case .new: try begin(name, catalog, arguments)
        case .test: try test(try manifest(name, catalog), catalog, arguments)
        }
    }

    /// An option that would have no effect is treated as a mistake.
    private static func refuseOthers(_ action: Action, _ arguments: Arguments) throws {
        let own: [String: [Action]] = [
            "--config": [.list, .show], "--language": [.new], "--types": [.new], "--output": [.new], "--only": [.test],
        ]
        for (option, actions) in own.sorted(by: { $0.key < $1.key })
        where arguments.flag(option) && !actions.contains(action) {
            throw Failure.usage(
                "\(option) isn't for plugins \(action.rawValue)",
                hint: "it is for \(actions.map(\.rawValue).joined(separator: ", "))")
        }
        if action == .list, arguments.positionals.count > 1 {
            throw Failure.usage("unexpected \"\(arguments.positionals[1])\"", hint: "write 'healthbus plugins list'")
        }
    }

    private static func manifest(_ text: String, _ catalog: PluginCatalog) throws -> Manifest {
        try catalog.manifests[text] ?? Manifest(file: manifestFile(text, catalog))
    }

    /// The manifest of a plugin, given its name or the path of its folder or manifest.
    private static func manifestFile(_ text: String, _ catalog: PluginCatalog) throws -> String {
        if let manifest = catalog.manifests[text] { return manifest.file }
        let here = FileManager.default.currentDirectoryPath
        guard text.contains("/") || FileManager.default.fileExists(atPath: text) else {
            throw Failure.usage(
                "there is no plugin '\(text)', and no folder of that name",
                hint: Nearest.hint(
                    for: text, among: catalog.manifests.keys.sorted(), quoted: false,
                    else: "'healthbus plugins list' lists them all"))
        }
        return PluginCatalog.manifestFile(text.contains("/") ? text : "./" + text, from: here)
    }

    private static func stack(_ catalog: PluginCatalog, _ arguments: Arguments) throws -> StackConfiguration {
        try StackConfiguration(path: arguments.configurationFile, catalog: catalog)
    }

    private static func list(_ catalog: PluginCatalog, _ arguments: Arguments) throws {
        let (report, stack) = (PluginReport(catalog), try stack(catalog, arguments))
        arguments.print(json: report.json(stack), else: report.table(stack, for: Terminal(.output)))
    }

    private static func show(_ manifest: Manifest, _ catalog: PluginCatalog, _ arguments: Arguments) throws {
        let (report, stack) = (PluginReport(catalog), try stack(catalog, arguments))
        arguments.print(report.value(manifest, stack), else: report.text(manifest, stack, for: Terminal(.output)))
    }

    private static func validate(_ file: String, _ catalog: PluginCatalog, _ arguments: Arguments) throws {
        let validation = PluginValidation(file: file, catalog: catalog)
        arguments.print(json: validation.json, else: validation.text)
        guard validation.findings.isEmpty else {
            throw Failure.usage(
                "\(file) has \(validation.findings.count) mistake\(validation.findings.count == 1 ? "" : "s")",
                hint: "docs/plugins.md says what each member means")
        }
    }

    private static func begin(_ name: String, _ catalog: PluginCatalog, _ arguments: Arguments) throws {
        let template = try PluginTemplate(
            name: name, language: try arguments.choice("--language", as: PluginTemplate.Language.self) ?? .python,
            types: arguments.values("--types"), catalog: catalog)
        let folder = arguments.value("--output") ?? name
        try template.write(to: folder)
        var text = "wrote \(template.files.map { "\(folder)/\($0.name)" }.joined(separator: ", "))\n\nnext:\n"
        if template.language == .swift { text += "  \(folder)/build.sh\n" }
        text += "  healthbus plugins test \(folder)\n"
        text += "  healthbus up --config \(folder)/stack.json\n"
        arguments.print(
            [
                "name": .string(name), "folder": .string(folder), "figure": .string(template.figure),
                "files": .array(template.files.map { .string($0.name) }),
            ], else: text)
    }

    private static func test(_ manifest: Manifest, _ catalog: PluginCatalog, _ arguments: Arguments) throws {
        let conformance = Conformance(manifest, catalog: catalog)
        let only = try arguments.value("--only").map { try asked($0, conformance) }
        if let finding = PluginCheck(manifest, catalog: catalog).findings.first {
            throw Failure.usage(
                "\(manifest.file): '\(finding.member)' \(finding.problem)",
                hint: "'healthbus plugins validate \(arguments.positionals[1])' lists all that is wrong")
        }
        let report = conformance.run(only: only) { LiveLine.error.rest($0.name) }
        LiveLine.error.end()
        arguments.print(json: report.json, else: report.table(for: Terminal(.output)))
        guard report.failed.isEmpty else {
            throw Failure(
                "\(manifest.name) breaks the contract: \(report.failed.map(\.name).joined(separator: ", "))",
                hint:
                    "try one alone: 'healthbus plugins test \(arguments.positionals[1]) --only \(report.failed[0].name)'"
            )
        }
    }

    private static func asked(_ text: String, _ conformance: Conformance) throws -> ConformanceCase {
        if let found = conformance.cases.first(where: { $0.rawValue == text }) { return found }
        let names = conformance.cases.map(\.rawValue)
        throw Failure.usage(
            "--only is \"\(text)\", which isn't a case of a \(conformance.manifest.kind.rawValue)",
            hint: Nearest.hint(
                for: text, among: names, quoted: false, else: "choose from \(names.joined(separator: ", "))"))
    }
}
