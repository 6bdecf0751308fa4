import Console
import Foundation
import Operations

enum AlertsCommand {
    static func run(_ arguments: Arguments) throws {
        let report = try AlertsReport(try Stack(arguments), now: Date())
        if arguments.flag("--json") {
            StandardStream.output.write(report.json + "\n")
        } else if report.isEmpty {
            StandardStream.error.write("no alerts\n")
        } else {
            StandardStream.output.write(report.table(for: Terminal(.output)))
        }
    }
}
