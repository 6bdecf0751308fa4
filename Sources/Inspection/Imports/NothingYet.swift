import Client
import Configuration
import Foundation
import HealthModel
import Protocol
import Terminal

/// What to say when there is nothing to show yet: either that an import under way will bring data, or how to import
/// some.
package enum NothingYet {
    /// - Parameters:
    ///   - user: whose data is missing; nil for anybody's.
    ///   - isDays: whether days are missing; they appear only some time after their samples.
    package static func advice(
        _ stack: Stack, _ reader: StackReader, user: String?, isDays: Bool = false
    ) throws -> String {
        advice(
            try ImportsReport(stack, reader).rows, user: user, isDays: isDays,
            isRunning: try reader.isRunning(stack.observer),
            follows: stack.configuration.instances.contains { !$0.configuration["followUrl"].isNull })
    }

    /// Pure.
    /// - Parameters:
    ///   - rows: the imports, newest first.
    ///   - follows: whether the stack follows another.
    package static func advice(
        _ rows: [ImportRow], user: String?, isDays: Bool, isRunning: Bool, follows: Bool = false
    ) -> String {
        let own = rows.filter { user == nil || $0.user == user }
        if let text = underWay(own, isRunning: isRunning) { return text }
        if isDays, own.contains(where: hasAdded) {
            return "what was imported is still to be computed: "
                + (isRunning ? "'healthbus status' shows how much" : "'healthbus up' continues it")
        }
        if follows {
            return "the stack that this one follows brings some"
                + (isRunning ? ": 'healthbus status' shows whether it answers" : ", once 'healthbus up' runs")
        }
        return "'healthbus import FILE' brings some"
    }

    /// A remark for a report that covers less than a person expects; nil if that person has no import under way.
    package static func remark(_ stack: Stack, _ reader: StackReader, user: String) throws -> String? {
        let rows = try ImportsReport(stack, reader).rows.filter { $0.user == user }
        return underWay(rows, isRunning: try reader.isRunning(stack.observer))
    }

    private static func underWay(_ rows: [ImportRow], isRunning: Bool) -> String? {
        let open = rows.filter { $0.state.isUnderWay }
        guard let last = open.last else { return nil }
        let what = open.count == 1 ? (last.path as NSString).lastPathComponent : HumanFormat.count(open.count, "file")
        let verb = open.count == 1 ? "is" : "are"
        return isRunning
            ? "\(what) \(verb) being imported: 'healthbus imports list' shows when that is done"
            : "\(what) \(verb) only partly imported: 'healthbus up' goes on with that"
    }

    private static func hasAdded(_ row: ImportRow) -> Bool {
        guard row.state == .closed, row.undone == nil, let report: ImportReport = row.report?.read() else {
            return false
        }
        return report.dryRun != true && report.total.added > 0
    }
}

extension ImportRow.State {
    /// Whether the file isn't imported yet: it is named, on its way, waiting, or being read.
    package var isUnderWay: Bool { [.announced, .receiving, .open].contains(self) }
}
