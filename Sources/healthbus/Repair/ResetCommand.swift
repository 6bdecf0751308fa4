import Client
import Configuration
import Control
import HealthModel
import Inspection
import Logging
import Terminal

enum ResetCommand: Command {
    static let help = CommandHelp(
        name: "healthbus reset",
        summary: "Make an instance forget what it derived, and derive it again from its upstreams.",
        positionals: [.init("instance")],
        options: CommandHelp.stackOptions + [Confirmation.option, .init("--dry-run", help: CommandHelp.dryRun), .json],
        examples: ["healthbus reset steps --dry-run", "healthbus reset steps --yes"])

    static func run(_ arguments: Arguments) throws {
        var stack = try Stack(arguments)
        let instance = try stack.named(arguments.positionals[0])
        if !arguments.flag("--dry-run") { stack.acting = instance.name }
        let what: String
        switch instance.manifest.kind {
        case .handler: what = "computes every day again from the observer's samples"
        case .consolidator: what = "takes in every handler's figures again"
        case .uploader: what = "delivers everything again, and forgets its counts and dead letters"
        case .debouncer: what = "forgets how far it has released, and any historical sync under way"
        case .observer:
            throw Failure(
                "\(instance.name) can't be reset: it holds the only copy of the samples",
                hint:
                    "to compute figures again, reset their handler; to start from scratch, run 'healthbus backup FOLDER',"
                    + " stop the stack and remove \(stack.state.path)")
        case .backend:
            throw Failure(
                "\(instance.name) holds what was delivered, and derives nothing",
                hint: "stop the stack and remove \(stack.state.instance(instance.name)): the uploader notices, and"
                    + " delivers everything to the new one")
        case .hub, .ingest, .dashboard:
            throw Failure("\(instance.name) keeps nothing", hint: "to start it from scratch, restart it")
        default: what = "starts from scratch"
        }
        let rows = try ResetPlan(stack, instance).rows
        if arguments.flag("--dry-run") {
            let value: Value = ["instance": .string(instance.name), "rows": Value(rows), "does": .string(what)]
            arguments.print(
                value,
                else:
                    "\(instance.name) \(what); it holds \(RepairOutput.count(Value(rows), "row")), which stay until then."
                    + " Nothing was changed.\n")
            return
        }
        try Confirmation.require(.reset, instance.name, detail: ": it \(what)", arguments)
        let runs = try stack.reader().isRunning(instance.name)
        RepairOutput.write(try stack.repair(instance, RepairClient.request("reset")), arguments) { _ in
            "Reset: \(instance.name) \(what)"
                + (runs ? ". 'healthbus status' shows how far it is." : " at the next start, \(stack.startCommand).")
        }
    }
}
