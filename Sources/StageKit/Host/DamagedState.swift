import Foundation
import Logging
import SQLite

/// What to do when an instance's file is damaged. What is lost depends on which instance the file belongs to.
package enum DamagedState {
    /// The error in human-readable form; nil if it isn't about a damaged file.
    package static func failure(of error: any Error) -> Failure? {
        guard let error = error as? SQLiteError, error.isCorrupt else { return nil }
        let folder = URL(fileURLWithPath: error.path).deletingLastPathComponent().path
        let isObservers = URL(fileURLWithPath: folder).lastPathComponent == "observer"
        let aside = "mv \(Advice.quoted(folder)) \(Advice.quoted(folder + ".damaged"))"
        return Failure(
            "\(error.path) is damaged: \(error.message). Nothing in it was changed",
            hint: "stop the stack, then restore a backup with 'healthbus restore BACKUP'; if there is none, "
                + "run '\(aside)' and start the stack"
                + (isObservers
                    ? ", import every export again, and set the zone again with 'healthbus zone set ZONE'"
                    : ", which then computes or delivers this data again from the observer's samples"),
            code: .damaged)
    }
}
