import Foundation
import Logging
import SQLite

/// What to do when an instance's file is damaged. What is lost depends on which instance the file belongs to.
package enum DamagedState {
    /// The error in human-readable form; nil if it isn't about a damaged file.
    /// - Parameter isObservers: whether the file is the observer's, the only one that can't be computed again; nil if
    ///   unknown.
    package static func failure(of error: any Error, isObservers: Bool? = nil) -> Failure? {
        guard let error = error as? SQLiteError, error.isCorrupt else { return nil }
        let folder = URL(fileURLWithPath: error.path).deletingLastPathComponent().path
        let aside = "mv \(Advice.quoted(folder)) \(Advice.quoted(folder + ".damaged"))"
        return Failure(
            "\(error.path) is damaged: \(error.message). Nothing in it was changed",
            hint: "stop the stack, then restore a backup with 'healthbus restore BACKUP'; if there is none, "
                + "run '\(aside)' and start the stack"
                + again(isObservers),
            code: .damaged)
    }

    private static func again(_ isObservers: Bool?) -> String {
        let imports = "import every export again, and set the zone again with 'healthbus zone set ZONE'"
        let computes = "which then computes or delivers this data again from the observer's samples"
        return switch isObservers {
        case true?: ", \(imports)"
        case false?: ", \(computes)"
        case nil: ", \(computes); if the file is the observer's own, \(imports)"
        }
    }
}
