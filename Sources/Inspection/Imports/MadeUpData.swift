import Configuration
import HealthModel
import Protocol

extension ImportsReport {
    /// Whether everything that a user has imported is made up, so that data from a phone would mix with it.
    package func isMadeUp(_ user: String) -> Bool {
        let brought = rows.filter { $0.user == user && $0.state == .closed && $0.undone == nil }
            .compactMap(\.report).filter { ($0["added"].int ?? 0) > 0 && $0["dryRun"] != true }
        return !brought.isEmpty && brought.allSatisfy { $0["madeUp"] == true }
    }

    /// What a person should know before a phone is let in; nil if there is nothing to say. If the stack can't answer,
    /// nothing is known, and the phone is let in anyway.
    package static func remarkOnMixing(_ stack: Stack, user: String) -> String? {
        guard let imports = try? ImportsReport(stack), imports.isMadeUp(user) else { return nil }
        return "'\(user)' has generated test data, and a phone's would mix with it; "
            + "start another stack for the phone (--state), or choose another user (--user)"
    }
}
