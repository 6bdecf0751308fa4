import Clocks
import Configuration
import Figures
import Foundation
import HealthModel
import HealthStatistics
import Inspection
import Logging
import Monitoring
import Protocol
import Terminal

enum CompletionsCommand: Command {
    static let help = CommandHelp(
        name: "healthbus completions",
        summary: "Print a script that lets a shell complete commands, options and names; or the names themselves.",
        positionals: [
            .init(
                (ShellCompletion.Shell.allCases.map(\.rawValue) + WordKind.Known.allCases.map(\.rawValue))
                    .joined(separator: "|"))
        ],
        options: CommandHelp.stackOptions + [
            .user("entries, own, places: whose (default: me)"),
            .init("--install", help: "write the script where the shell looks for it, and say what else is needed"),
        ],
        examples: ["healthbus completions bash --install", "healthbus completions types"])

    static func run(_ arguments: Arguments) throws {
        let word = arguments.positionals[0]
        if let shell = ShellCompletion.Shell(rawValue: word) {
            let script = ShellCompletion(Commands.set, ask: "healthbus completions").script(for: shell)
            guard arguments.flag("--install") else { return _ = StandardStream.output.write(script) }
            try install(script, for: shell)
        } else if let kind = WordKind.Known(rawValue: word) {
            StandardStream.output.write(try names(kind, arguments).map { $0 + "\n" }.joined())
        } else {
            let shells = ShellCompletion.Shell.allCases.map(\.rawValue).joined(separator: ", ")
            throw Failure.usage("there are no completions for \(word)", hint: "choose from \(shells)")
        }
    }

    private static func install(_ script: String, for shell: ShellCompletion.Shell) throws {
        let place = CompletionPlace(shell, environment: ProcessInfo.processInfo.environment)
        do {
            try FileManager.default.createDirectory(
                atPath: (place.path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
            try Data(script.utf8).write(to: URL(fileURLWithPath: place.path), options: .atomic)
        } catch { throw Failure("can't write \(place.path)", hint: "check the permissions of its folder") }
        StandardStream.output.write("wrote \(place.path)\n\(place.whatElse)")
    }

    private static func names(_ kind: WordKind.Known, _ arguments: Arguments) throws -> [String] {
        switch kind {
        case .categories: LogReport.Filter.allCategories
        case .columns: try DaysReport.columns(of: Stack(arguments))
        case .destinations: try Stack(arguments).destinations.map(\.name)
        case .entries: (ownTypes(arguments) + enterableTypes).sorted()
        case .figures:
            try ExplainedMetric.names(of: Stack(arguments).configuration.figures)
                + HealthType.allKnown.keys.map { TypeName.short($0) }.sorted()
        case .instances: try Stack(arguments).names
        case .metrics: try Stack(arguments).configuration.handlers.map(\.name)
        case .own: ownTypes(arguments)
        case .places:
            try PlacesCommand.report(Stack(arguments), arguments).places.map(\.condition.name)
        case .plugins: try Stack(arguments).catalog.manifests.keys.sorted()
        case .tokens:
            try TokenFile(try Stack(arguments).state).read().entries.filter { $0.state(at: WallClock.now) == .valid }
                .map(\.id)
        case .topics: try Stack(arguments).configuration.topics
        case .types: HealthType.allKnown.keys.map { TypeName.short($0) }.sorted()
        case .zones: ZoneName.known
        }
    }

    /// HealthKit's types of which a person can enter events.
    private static var enterableTypes: [String] {
        HealthType.allKnown.filter { [.quantity, .category].contains($0.value.kind) }.keys.map { TypeName.short($0) }
    }

    /// A person's own types; none if there is no stack yet, or its observer doesn't answer: HealthKit's are still
    /// worth offering.
    private static func ownTypes(_ arguments: Arguments) -> [String] {
        guard let stack = try? Stack(arguments), stack.exists,
            let report = try? EntriesReport(
                stack, stack.reader(foundSilent: { _ in }), user: arguments.user)
        else { return [] }
        return report.types.map(\.name)
    }
}
