import Client
import Clocks
import Foundation
import Glibc
import HealthModel
import Protocol
import Synchronization

/// Passes files received over HTTP on to the observer, and asks about their state.
package protocol FileTaking: Sendable {
    /// Hands a file over, and waits until it is in the observer's inbox.
    /// - Parameter content: the hash of the file's content, from `ContentHash`.
    /// - Returns: the import's id, which is the same for the same content of the same user unless that import failed,
    ///   found the file damaged, or was taken back.
    func handOver(_ path: String, content: [UInt8], user: String) throws(FileHandover.Failure) -> String

    /// The state of an import; nil when none has that id.
    func state(_ id: String) throws(FileHandover.Failure) -> FileState?
}

/// The state of a file.
package struct FileState: Sendable, Equatable {
    package var row: ImportRow
    /// While it is being read.
    package var reading: ObserverDetails.Reading?

    package init(row: ImportRow, reading: ObserverDetails.Reading? = nil) { (self.row, self.reading) = (row, reading) }
}

/// Hands files over through the bus: if the observer can open the file, it takes it in place through a link; otherwise
/// it asks for the bytes.
package final class FileHandover: FileTaking {
    package enum Failure: Error, Equatable {
        /// The observer doesn't answer, or stops asking for more.
        case silent
        case refused(String)
        /// The file can't be imported; the reason is given, but without the file's path, which concerns only the
        /// server.
        case unreadable(String)
    }

    /// A file that makes no progress for this long is given up.
    private static let patience = Duration.seconds(30)

    private let connect: @Sendable () throws -> (client: StackClient, offers: FileOffers)
    private let connected = Mutex<(client: StackClient, offers: FileOffers)?>(nil)

    /// - Parameter connect: connects to the bus; called when the first file comes, so that an ingest that never gets
    ///   one never connects.
    package init(observer: String, connect: @escaping @Sendable () throws -> StackClient) {
        self.connect = {
            let client = try connect()
            return (client, FileOffers(client, observer: observer))
        }
    }

    package func state(_ id: String) throws(Failure) -> FileState? {
        let (_, offers) = try line()
        guard let row = try row(id, offers) else { return nil }
        return FileState(row: row, reading: row.state == .open ? offers.progress(id) : nil)
    }

    package func handOver(_ path: String, content: [UInt8], user: String) throws(Failure) -> String {
        let (client, offers) = try line()
        let id = try freeID(content, user, offers)
        let file: OfferedFile
        do { file = try OfferedFile(path) } catch { throw .refused("the file can't be read again") }
        offers.offer(file, as: id)
        defer { offers.withdraw(id) }
        let request = {
            var request = ImportFile(path: file.path, user: user, file: file.identity)
            (request.id, request.sender) = (id, client.name)
            return request
        }()
        var (moved, said) = (MonotonicClock.now, MonotonicTime.distantPast)
        var bytes = -1
        while MonotonicClock.now - moved < Self.patience {
            if MonotonicClock.now - said >= .seconds(1) {
                offers.say(request)
                said = MonotonicClock.now
            }
            let row: ImportRow?
            do { row = try offers.look(id, within: 0.3)?.row } catch { throw .refused("\(error)") }
            switch row?.state {
            case .open, .closed: return id
            case .failed:
                let problem = row?.problem ?? "the observer can't accept it"
                throw .unreadable(problem.replacing("'\(file.path)'", with: "it").replacing(file.path, with: "it"))
            case .announced, .receiving, nil: break
            }
            if file.progress.bytes != bytes { (bytes, moved) = (file.progress.bytes, MonotonicClock.now) }
            usleep(20_000)
        }
        throw .silent
    }

    private func freeID(_ content: [UInt8], _ user: String, _ offers: FileOffers) throws(Failure) -> String {
        var attempt = 1
        while true {
            let id = ImportID.of(content: content, user: user, attempt: attempt)
            guard let row = try row(id, offers), row.isSpent else { return id }
            attempt += 1
        }
    }

    private func row(_ id: String, _ offers: FileOffers) throws(Failure) -> ImportRow? {
        let found: (row: ImportRow?, head: SequenceNumber)?
        do { found = try offers.look(id, within: 10) } catch { throw .refused("\(error)") }
        guard let found else { throw .silent }
        return found.row
    }

    private func line() throws(Failure) -> (client: StackClient, offers: FileOffers) {
        do {
            return try connected.withLock { connected in
                let line = try connected ?? connect()
                connected = line
                return line
            }
        } catch { throw .refused("the bus can't be reached: \(error)") }
    }

    package func close() { connected.withLock { $0 }?.client.close() }
}
