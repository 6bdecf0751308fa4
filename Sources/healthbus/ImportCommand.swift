import Console
import Foundation
import HealthModel
import Operations
import PluginKit

enum ImportCommand {
    static func run(_ arguments: Arguments) throws {
        let stack = try Stack(arguments)
        for path in arguments.positionals where !FileManager.default.isReadableFile(atPath: path) {
            let reason = FileManager.default.fileExists(atPath: path) ? "can't be read" : "doesn't exist"
            throw Failure("\(path) \(reason)", hint: "check the path and its rights")
        }
        try stack.requireRunning(or: "healthbus up --import FILE")
        let client = try StackClient(address: stack.address)
        defer { client.close() }
        let imports = ImportClient(client: client, observer: stack.observer)
        var outcomes: [ImportClient.Outcome] = []
        for path in arguments.positionals {
            let outcome = try imports.run(path, user: arguments.value("--user"))
            outcomes.append(outcome)
            if !arguments.flag("--json"), outcome.report != nil { StandardStream.output.write(line(outcome) + "\n") }
        }
        if arguments.flag("--json") {
            StandardStream.output.write(
                Value.object(["files": .array(outcomes.map(\.value))]).json(pretty: true) + "\n")
        }
        if let failed = outcomes.first(where: { $0.report == nil }) {
            throw Failure("\(failed.path) wasn't imported: \(failed.problem ?? "")")
        }
        if let damaged = outcomes.first(where: \.isDamaged) { throw Self.damaged(damaged) }
    }

    /// One line for people: what a file brought.
    static func line(_ outcome: ImportClient.Outcome) -> String {
        guard let report = outcome.report else { return "\(outcome.path): \(outcome.problem ?? "not imported")" }
        func count(_ name: String) -> String { HumanFormat.count(Int(report[name].int ?? 0)) }
        let name = (outcome.path as NSString).lastPathComponent
        return "\(name): \(count("read")) read, \(count("added")) added, \(count("known")) known, "
            + "\(count("deleted")) deleted, \(count("quarantined")) quarantined, in "
            + HumanFormat.duration(.seconds(report["seconds"].double ?? 0))
    }

    static func damaged(_ outcome: ImportClient.Outcome) -> Failure {
        Failure(
            "\(outcome.path) is damaged: \(outcome.problem ?? "")",
            hint: "what was whole before it has been kept; import a whole copy to get the rest", code: .damaged)
    }
}
