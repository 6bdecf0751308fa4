/// Files that processes write to but that aren't where the next start would look for them.
extension Diagnosis {
    var folders: [Finding] {
        seen.gone.sorted { $0.key < $1.key }.map { name, path in
            Finding(
                .error, name, "runs, but \(path) is gone: everything it has taken in is lost when it ends",
                remedy: "stop the stack and put it back, or restore a backup with 'healthbus restore BACKUP'; "
                    + "otherwise start from scratch with 'healthbus up' and import your export again")
        }
    }
}
