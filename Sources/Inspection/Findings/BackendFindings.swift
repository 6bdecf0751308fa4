import HealthModel
import Protocol
import Terminal

/// What a person should know from an uploader's heartbeat about its backend. Pure.
enum BackendFindings {
    /// - Parameter own: the stack's own backend, if it has one.
    static func of(_ beat: Heartbeat, _ name: String, backend own: String?, keepsFiles: Bool = false) -> [Finding] {
        guard let told = beat.uploader else { return [] }
        let backend = told.backend
        if keepsFiles { return ofFiles(backend, name) }
        var found: [Finding] = []
        if let why = backend.why, !told.paused {
            found.append(
                Finding(
                    .warning, name, "can't compare what the backend holds with what it took: \(why)",
                    remedy: "see to the backend; it is tried again by itself"
                ).because(of: [own, name]))
        }
        if backend.result == .redelivered {
            let missing =
                backend.missing.map { "at least \(HumanFormat.count(Int($0), "element"))" } ?? "some or all"
            found.append(
                Finding(
                    .warning, name, "the backend had lost \(missing) of what it took; everything is delivered again",
                    remedy: "wait until 'healthbus sync' says that all is delivered; then see to the backend's folder"))
        }
        if backend.acceptance == .trust {
            found.append(
                Finding(
                    .note, name, "takes it on trust that the backend keeps what it accepts: it doesn't say who it is",
                    remedy: "nothing; 'Acceptance' in docs/delivery.md says what a backend answers to prove it"))
        }
        return found
    }

    /// Obstacles to writing files are reported separately; this is whether they are still as they were written.
    private static func ofFiles(_ backend: UploaderDetails.Backend, _ name: String) -> [Finding] {
        guard backend.result == .redelivered else { return [] }
        let files = HumanFormat.count(Int(backend.missing ?? 0), "file")
        return [
            Finding(
                .warning, name,
                "\(files) had been changed or removed by somebody else, and \(backend.missing == 1 ? "is" : "are") written again",
                remedy: "nothing; but keep what you edit elsewhere, for it is lost here")
        ]
    }
}
