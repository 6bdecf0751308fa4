import Configuration
import Foundation
import HealthModel
import Inspection
import ModelContext
import Monitoring
import Terminal

/// Whether the stack works and how fresh its data is, as in `healthbus status`. The newest samples are this person's;
/// days to compute, other times and counts are those of the whole stack.
enum StatusTool: AssistantTool {
    static let tool = Tool(
        "get_status", title: "Status of the stack",
        description:
            "Whether healthbus runs, how fresh each metric is, which days still have to be computed, and what waits to "
            + "be delivered.",
        parameters: [],
        answers: ToolReport.schema([
            "processes": ToolReport.rows(
                ["name": ["type": "string"], "state": ["type": "string"]], "of the stack"),
            "metrics": ToolReport.rows(
                [
                    "metric": ["type": "string"], "pendingDays": ["type": ["integer", "null"]],
                    "lastSample": ["type": ["string", "null"], "description": "end of this person's newest sample"],
                    "lastComputed": ["type": ["string", "null"]], "lastDelivered": ["type": ["string", "null"]],
                ], "by handler"),
            "pending": ["type": "integer"], "deadLetters": ["type": "integer"],
        ]))

    static func answer(_ context: ToolContext, _ arguments: ToolArguments) throws -> ToolAnswer {
        let now = Date(timeIntervalSince1970: context.now.secondsSince1970)
        let status = try StatusReport(context.stack, now: now).value
        let last = StatusReport.byType(try context.types())
        let metrics = (status["metrics"].array ?? []).map { metric -> Value in
            let handler = metric["metric"].string.flatMap { context.stack.configuration.instance($0) }
            let newest = handler.flatMap { context.stack.configuration.known(last, to: $0).max() }
            func local(_ name: String) -> Value {
                context.local(metric[name].string.flatMap { InstantText.parse($0) })
            }
            return [
                "metric": metric["metric"], "pendingDays": metric["pending"], "lastSample": context.local(newest),
                "lastComputed": local("lastSynced"), "lastDelivered": local("lastDelivered"),
            ]
        }
        let processes = (status["processes"].array ?? []).map { process -> Value in
            ["name": process["name"], "state": process["state"]]
        }
        let waiting = metrics.compactMap { $0["pendingDays"].int }.reduce(0, +)
        let ready = processes.count { $0["state"] == "ready" }

        var report = ToolReport(
            context,
            context.isRunning
                ? "The stack is running, \(ready) of \(processes.count) processes ready." : "The stack is stopped.")
        report["processes"] = .array(processes)
        report["metrics"] = .array(metrics)
        report["pending"] = .integer(status["pending"].int ?? 0)
        report["deadLetters"] = .integer(status["deadLetters"].int ?? 0)
        if waiting > 0 {
            report.note(
                "\(HumanFormat.count(Int(waiting), "day")) still \(waiting == 1 ? "has" : "have") to be computed: "
                    + "figures may change.")
        }
        if status["blocked"].string != nil {
            report.note("Delivery to a destination waits: 'healthbus status' says why.")
        }
        return report.answer()
    }
}
