import Configuration
import HealthModel
import Protocol
import Terminal

/// What a person should know about an uploader's backend, based on its heartbeat. Pure.
enum BackendFindings {
    /// - Parameters:
    ///   - own: the stack's own backend, if it has one.
    ///   - destination: what the plugin declares.
    static func of(
        _ beat: Heartbeat, _ name: String, backend own: String?, _ destination: DestinationDeclaration
    ) -> [Finding] {
        guard let told = beat.uploader else { return [] }
        let backend = told.backend
        if destination.keeps == .files { return ofFiles(backend, name) }
        let (word, isBackend) = (destination.word, destination.kind == .backend)
        var found: [Finding] = []
        if let why = backend.why, !told.paused {
            found.append(
                Finding(
                    .warning, name, "can't check whether the \(word) still holds what it accepted: \(why)",
                    remedy: "see to that first; this is tried again automatically"
                ).because(of: [own, name]))
        }
        if backend.result == .redelivered {
            let missing =
                backend.missing.map { "at least \(HumanFormat.count(Int($0), "element"))" } ?? "some or all"
            found.append(
                Finding(
                    .warning, name, "the \(word) had lost \(missing) of what it accepted; everything is sent again",
                    remedy: "wait until 'healthbus sync' says everything is delivered; then check its "
                        + (isBackend ? "folder" : "backups")))
        }
        if backend.acceptance == .trust {
            found.append(
                Finding(
                    .note, name, "trusts the \(word) to keep what it accepts: the \(word) doesn't say who it is",
                    remedy: isBackend
                        ? "nothing; 'Acceptance' in docs/delivery.md says how a backend can prove it" : "nothing"
                ).standing())
        }
        return found
    }

    /// Obstacles to writing files are reported separately; this only checks whether existing files are unchanged.
    private static func ofFiles(_ backend: UploaderDetails.Backend, _ name: String) -> [Finding] {
        guard backend.result == .redelivered else { return [] }
        let files = HumanFormat.count(Int(backend.missing ?? 0), "file")
        return [
            Finding(
                .warning, name,
                "\(files) \(backend.missing == 1 ? "was" : "were") changed or removed by others; being written again",
                remedy: "nothing; but edit copies elsewhere: changes made here are lost")
        ]
    }
}
