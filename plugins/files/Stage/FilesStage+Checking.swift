import Changelog
import HealthModel
import MessageBus
import Protocol
import StageKit

/// Finding files that were changed or removed, and unknown files.
extension FilesStage {
    private static let comparedAtOnce = 200

    /// Compares now; with `send`, marked files are written at once, and only sizes are compared.
    func hear(command: Value) {
        guard let asked = CompareBackend(command), asked.id.utf8.count <= 100 else { return }
        if asked.send == true {
            marks.hurry()
            retry = .distantPast
        }
        check.want(asked.id, readsAll: asked.send != true)
    }

    func moveCheck(_ turn: Turn) throws {
        guard check.mayBegin else { return }
        check.begin(turn.perform(ListFiles(makesFolder: ledger.count == 0)))
    }

    /// Accepts a result of the comparison; returns false for any other result.
    func receive(checked result: EffectResult, _ outcome: FileOutcome, _ turn: Turn) throws -> Bool {
        switch (outcome, check.phase) {
        case (.listed(let paths, let isLast), .listing(let effect)) where effect == result.id:
            // A full or read-only disk can be listed too.
            if !isWritingBlocked { works() }
            for path in paths where try ledger.entry(path, turn) == nil && marks.marks[path] == nil {
                try marks.mark(path, since: nil, settles: false, turn)
            }
            if isLast { try compare(after: "", turn) }
        case (.compared(let differing), .comparing(let effect, let last)) where effect == result.id:
            for path in differing {
                if path == Self.manifestName {
                    if manifest.settled != nil { check.found(1) }
                    continue
                }
                // The file may have been written since.
                guard marks.marks[path] == nil else { continue }
                check.found(1)
                try ledger.remove(path, turn)
                try marks.mark(path, since: nil, settles: false, turn)
            }
            try compare(after: last, turn)
        case (.listed, _), (.compared, _): break
        default: return false
        }
        return true
    }

    private func compare(after path: String, _ turn: Turn) throws {
        var last = path
        // The manifest comes first.
        var entries = path.isEmpty ? [manifest.settled].compactMap { $0 } : []
        var isOver = false
        repeat {
            let page = try ledger.page(after: last, limit: Self.comparedAtOnce, turn)
            isOver = page.isEmpty
            last = page.last?.path ?? Self.manifestName
            // A marked file is rewritten anyway, and may be incomplete.
            entries += page.filter { marks.marks[$0.path] == nil }
        } while entries.isEmpty && !isOver
        guard entries.isEmpty else {
            let effect = turn.perform(CompareFiles(entries: entries, readsAll: check.readsAll))
            return check.compares(effect, last: last)
        }
        if check.differing > 0 {
            turn.log(.backendLacks, ["missing": "\(check.differing)"])
            try planProof(after: FilesProof.repeatAfter, atMost: nextProof, turn)
            manifest.isOld()
        }
        check.end(at: turn.now)
    }
}
