import Changelog
import FilesStage
import HealthModel
import MessageBus
import Protocol
import StageKit
import TestSupport

/// A stage, a consolidator with some days, and a disk.
final class FilesRig {
    static let manifest = "manifest.json"
    let stage: StageRig<FilesStage>
    /// The consolidator's days by number, each with its sequence number and steps.
    var days: [Int64: (sequence: Int64, steps: Int64)] = [:]
    var sequence: Int64 = 0
    var observer = FilesObserver()
    var disk: [String: String] = [:]
    /// Paths in the order they were written.
    var written: [String] = []
    var problem: FileProblem?
    /// Which requests the problem concerns.
    var fails: (any Sendable) -> Bool = { _ in true }
    private var open: [Int64: String] = [:]
    private var rows: [Int64: Int64] = [:]
    /// The configuration for the next process.
    let choice = Choice()

    final class Choice {
        var layout = FilesLayout([:])
        var folder: String?
    }

    init() throws {
        let choice = choice
        stage = try StageRig {
            FilesStage(
                observer: "observer", handlers: [], consolidator: "consolidator", instance: "files",
                folder: choice.folder, layout: choice.layout, figures: [], settle: .seconds(2), family: { $0 })
        }
        try stage.turn()
        try hear()
    }

    func hear() throws {
        try stage.hear("sync.files", ["head": Value(head(observer.sequence)), "released": .integer(observer.sequence)])
        try stage.hear(beat("consolidator", head(sequence, store: "consolidator")))
    }

    /// A day changes, and the consolidator reports it.
    func change(_ number: Int64, steps: Int64) throws {
        sequence += 1
        days[number] = (sequence, steps)
        try hear()
    }

    /// Does what the stage asks for until it asks for nothing more; returns false if that takes more than `limit`
    /// steps.
    @discardableResult
    func serve(_ limit: Int = 1000) throws -> Bool {
        for _ in 0..<limit {
            if let pull = stage.pulls.first {
                try stage.answer(pull, .pages([page(for: pull)]))
            } else if let effect = stage.effects.first {
                try stage.reply(effect, outcome(effect.request))
            } else {
                return true
            }
        }
        return false
    }

    private func page(for pull: Pull) -> Value {
        if pull.producer == "observer", let page = observer.page(for: pull) { return page }
        let after = pull.query["after"]?["base"].int ?? pull.query["after"]?.int ?? 0
        let rows = days.filter { $0.value.sequence > after }.sorted { $0.value.sequence < $1.value.sequence }
        return [
            "rows": .array(
                rows.map { number, day in
                    let date = LocalDay(number: Int(number)).description
                    return KeyedChangelog.Row(
                        sequence: SequenceNumber(day.sequence), key: "day/me/\(date)", topic: "daily.summary",
                        user: "me", day: Int(number), body: ["date": .string(date), "steps": .integer(day.steps)]
                    ).wireValue
                }), "through": .integer(sequence), "head": Value(head(sequence, store: "consolidator")),
        ]
    }

    private func outcome(_ request: any Sendable) -> FileOutcome {
        if let problem, fails(request) { return .failed(problem) }
        switch request {
        case is ListFiles: return .listed(disk.keys.filter { $0 != Self.manifest }.sorted(), isLast: true)
        case let compare as CompareFiles:
            return .compared(differing: compare.entries.filter { disk[$0.path] != $0.sum }.map(\.path))
        case let part as FilePart:
            var text = part.isFirst ? String(decoding: part.head, as: UTF8.self) : open[part.job] ?? ""
            var rows = part.isFirst ? 0 : self.rows[part.job] ?? 0
            switch part.content {
            case .bytes(let bytes, let count):
                text += String(decoding: bytes, as: UTF8.self)
                rows += count
            case .samples(let pages, let maker):
                var bytes: [UInt8] = []
                for page in pages { rows += maker.append(page, to: &bytes) }
                text += String(decoding: bytes, as: UTF8.self)
            }
            (open[part.job], self.rows[part.job]) = (text, rows)
            guard part.isLast else { return .taken }
            if part.compares {
                let there = disk[part.path]
                if rows == 0 { return .proved(there == nil ? nil : .superfluous) }
                return .proved(there == text ? nil : there == nil ? .missing : .different)
            }
            if rows == 0, !part.keepsEmpty {
                disk[part.path] = nil
                return .removed
            }
            disk[part.path] = text
            written.append(part.path)
            // Here the content serves as its own checksum.
            return .written(
                rows: rows, bytes: Int64(text.utf8.count), sum: text, isChanged: part.known?.sum != text)
        default: return .taken
        }
    }

    func frontier() throws -> SequenceNumber? { try stage.report().frontier["consolidator"] }
}
