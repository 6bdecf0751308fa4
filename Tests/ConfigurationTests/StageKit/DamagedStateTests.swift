import Logging
import SQLite
import StageKit
import Testing

/// Only the observer's file holds what can't be computed again, whatever the instance is called.
@Suite struct DamagedStateTests {
    private func hint(_ isObservers: Bool?) -> String {
        let error = SQLiteError(damaged: "/state/watch/state.sqlite", "it is cut off")
        return DamagedState.failure(of: error, isObservers: isObservers)?.hint ?? ""
    }

    @Test func theHintNamesTheStepsOfTheFilesOwner() {
        let moves = "'mv /state/watch /state/watch.damaged'"
        #expect([true, false, nil].allSatisfy { hint($0).contains(moves) })
        #expect(hint(true).contains("import every export again") && !hint(true).contains("computes"))
        #expect(hint(false).contains("computes") && !hint(false).contains("import every export again"))
        #expect(hint(nil).contains("computes") && hint(nil).contains("if the file is the observer's own"))
    }
}
