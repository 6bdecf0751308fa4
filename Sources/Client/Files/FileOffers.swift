import HealthModel
import MessageBus
import Protocol
import Synchronization

/// How a tool hands files over to the observer: it announces them, sends their bytes if the observer can't open them,
/// and asks about their state.
package final class FileOffers: Sendable {
    private let client: StackClient
    private let observer: String
    /// The files that the observer may request now, by the import's id.
    private let files: OfferedFiles

    /// - Parameter client: from now on, it answers pulls for these files and no others.
    package init(_ client: StackClient, observer: String) {
        (self.client, self.observer) = (client, observer)
        let files = OfferedFiles()
        self.files = files
        client.serve { files.answer($0) }
    }

    /// Sends the bytes of a file whenever the observer asks, until the offer is withdrawn.
    package func offer(_ file: OfferedFile, as id: String) { files.offer(file, as: id) }

    package func withdraw(_ id: String) { files.withdraw(id) }

    /// Announces the file. As long as this is repeated each second, the observer keeps asking; otherwise it assumes
    /// that this tool is gone.
    package func say(_ request: ImportFile) { client.command(observer, request.body) }

    /// The observer's row for an import (id, path, state, report, problem) and the observer's head; nil when the
    /// observer doesn't answer.
    package func look(
        _ id: String, within seconds: Double
    ) throws -> (row: ImportRow?, head: SequenceNumber)? {
        guard let page = try client.ask(observer, .imports(id: id), within: seconds)?.first
        else { return nil }
        return (page.imports.first, page.head?.sequence ?? .beginning)
    }

    /// How much of the file has been read, according to the last heartbeat; nil while a different one is being read.
    package func progress(_ id: String) -> ObserverDetails.Reading? {
        client.heartbeats[observer]?.beat.observer?.reading.flatMap { $0.id == id ? $0 : nil }
    }
}

/// The files on offer, shared with the thread that answers.
private final class OfferedFiles: Sendable {
    private let files = Mutex<[String: OfferedFile]>([:])

    func offer(_ file: OfferedFile, as id: String) { files.withLock { $0[id] = file } }
    func withdraw(_ id: String) { files.withLock { $0[id] = nil } }

    func answer(_ query: FileQuery) -> Result<[FilePage], PullRefusal> {
        guard let file = files.withLock({ $0[query.import ?? ""] }) else {
            return .failure(PullRefusal("this command offers no such file"))
        }
        return file.answer(from: query.offset)
    }
}
