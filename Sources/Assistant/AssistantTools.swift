import Foundation
import HealthModel
import Inspection
import Logging
import ModelContext

/// One of the tools: a thin layer over a query that is also available as a command.
protocol AssistantTool {
    static var tool: Tool { get }
    /// - Throws: `Failure` that says what to do, and whatever the query throws.
    static func answer(_ context: ToolContext, _ arguments: ToolArguments) throws -> ToolAnswer
}

/// `healthbus mcp`: what an assistant may ask about one person. All of it is read-only.
package struct AssistantTools: Sendable {
    /// The stack is opened for each call, because it may be started, stopped or reconfigured in between.
    private let stack: @Sendable () throws -> Stack
    private let user: String

    package init(user: String, stack: @escaping @Sendable () throws -> Stack) {
        (self.user, self.stack) = (user, stack)
    }

    private static var all: [any AssistantTool.Type] {
        [
            MetricsTool.self, DaysTool.self, HoursTool.self, NightsTool.self, WorkoutsTool.self, ExplainTool.self,
            CompareTool.self, SamplesTool.self, StatusTool.self,
        ]
    }

    package static let descriptions = all.map { $0.tool }

    /// What an assistant reads before it calls anything.
    package static let instructions = """
        Health data of one person, read from healthbus on their own machine. Nothing here changes anything.
        Days are days of the person's own clock. Figures are computed from all samples, with overlapping sources \
        counted once: take days and hours from get_days and get_hours, and never add up samples.
        A day is settled only if "final" is true. A day that isn't over has figures of the hours so far; say so, and \
        don't compare it with whole days. null means that nothing was measured or recorded; it is not 0.
        Read "notes", "missing" and "leftOut" of each answer, and name units, dates and what is missing.
        Dates are 2025-03-30, 2025-03, 2025, today, yesterday, last-week, this-month, 7d, 4w or 1y.
        """

    /// - Parameters:
    ///   - now: the current time, the same throughout one answer.
    ///   - isWanted: false once nobody is waiting for the answer any more; called repeatedly.
    package func answer(
        _ call: ContextSession.Call, now: Instant, isWanted: @escaping () -> Bool
    ) -> ToolAnswer {
        guard let found = Self.all.first(where: { $0.tool.name == call.tool }) else {
            return ToolAnswer(error: "there is no tool \(call.tool)")
        }
        do {
            let arguments = try ToolArguments(call.arguments, for: found.tool)
            let context = try ToolContext(try stack(), user: user, now: now, isWanted: isWanted)
            return try found.answer(context, arguments)
        } catch let refusal as ToolArguments.Refusal {
            return ToolAnswer(error: "\(refusal)")
        } catch {
            return ToolAnswer(error: Self.text(of: error))
        }
    }

    /// An error's text as shown to an assistant, without the names of this machine's folders, which don't concern it.
    private static func text(of error: any Error) -> String {
        let failure = error as? Failure ?? Failure("\(error)")
        let text = failure.message + (failure.hint.map { "\n\($0)" } ?? "")
        return text.replacing(StateWords.path, with: "the state folder")
    }

    private enum StateWords {
        /// An absolute path with at least two components.
        static var path: Regex<Substring> { #/\/[^\s'",;:]+\/[^\s'",;:]+/# }
    }
}

extension ToolParameter {
    /// The arguments that all tools about days take.
    static let span = [
        ToolParameter(
            "dates", .text,
            "a day or span: 2025-03-30, 2025-03, 2025, today, yesterday, this-week, last-week, this-month, last-month, "
                + "7d, 4w, 1y"
        ),
        ToolParameter("from", .text, "instead of dates: the first day, in the same forms"),
        ToolParameter("to", .text, "instead of dates: the last day, in the same forms"),
    ]

    static let figures = ToolParameter(
        "figures", .texts(atMost: 50),
        "only these, by the names that list_metrics gives; default: all numbers that have data")
}
