import Client
import Configuration
import Dispatch
import Foundation
import HealthModel
import Protocol
import SQLite

/// The effect that copies a stage's own file.
struct BackupRequest: Sendable {
    /// The name of a folder in the state folder's `backup`.
    var folder: String
    var name: String
}

enum BackupReply: Sendable {
    /// The number of bytes still to be copied.
    case left(Int64)
    case done(bytes: Int64)
    case failed(String)
}

/// The progress of a copy. Pure.
struct BackupCopy {
    private var effect: Int64?
    private(set) var state = RepairOutcome.underWay(left: 0)

    /// - Parameter request: its `folder` may contain only lower-case letters, digits and hyphens, so that nothing can
    ///   be written elsewhere.
    mutating func begin(_ request: RepairRequest, instance: String, _ turn: Turn) -> RepairOutcome {
        guard let folder = request.folder, !folder.isEmpty,
            folder.utf8.allSatisfy({ (97...122).contains($0) || (48...57).contains($0) || $0 == 45 })
        else { return .refused("the name of a backup's folder consists of lower-case letters, digits and hyphens") }
        effect = turn.perform(BackupRequest(folder: folder, name: instance))
        state = .underWay(left: 0)
        return state
    }

    /// Returns false if the result belongs to some other effect.
    mutating func take(_ result: EffectResult) -> Bool {
        guard let reply = result.value as? BackupReply else { return false }
        guard result.id == effect else { return true }
        switch reply {
        case .left(let bytes): state = .underWay(left: bytes)
        case .done(let bytes): state = .done(["bytes": .integer(bytes)])
        case .failed(let why): state = .refused(why)
        }
        return true
    }
}

/// A stage's own effects, plus copies of its file. A copy is made in steps, on its own thread and connection, and shows
/// a single state of the store. Neither the writer nor readers have to wait.
final class RepairEffects: EffectRunner {
    private let inner: (any EffectRunner)?
    private let database: String
    /// The folder in which backups are made.
    private let root: String

    init(_ inner: (any EffectRunner)?, database: String, root: String) {
        (self.inner, self.database, self.root) = (inner, database, root)
    }

    func perform(_ effect: Effect, reply: @escaping @Sendable (EffectResult) -> Bool) {
        guard let request = effect.request as? BackupRequest else {
            inner?.perform(effect, reply: reply)
            return
        }
        let path = database
        let folder = root + "/" + request.folder
        Thread.begin("backup", stackSize: 512 << 10) {
            let last: BackupReply
            do {
                try StateFolder.make(folder)
                let source = try Database(path: path, mode: .readOnly)
                let bytes = try source.copy(to: "\(folder)/\(request.name).sqlite") { left in
                    reply(EffectResult(id: effect.id, value: BackupReply.left(left)))
                }
                last = .done(bytes: bytes)
            } catch {
                last = .failed("the copy of \(request.name) can't be written: \(error)")
            }
            _ = reply(EffectResult(id: effect.id, value: last))
        }
    }

    func stop() { inner?.stop() }
}
