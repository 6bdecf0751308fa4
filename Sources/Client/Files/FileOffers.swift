import HealthModel
import MessageBus
import Protocol
import Synchronization

/// What a tool does to hand files over to the observer: says that it has them, gives their bytes where the observer can't open them, and asks what
/// has become of them.
package final class FileOffers: Sendable {
    private let client: StackClient
    private let observer: String
    /// What the observer may ask for now, by the import's id.
    private let files: OfferedFiles

    /// - Parameter client: answers pulls for these files from now on, and for nothing else.
    package init(_ client: StackClient, observer: String) {
        self.client = client
        self.observer = observer
        let files = OfferedFiles()
        self.files = files
        client.serve { files.answer($0) }
    }

    /// Gives the bytes of a file whenever the observer asks, until it is withdrawn.
    package func offer(_ file: OfferedFile, as id: String) { files.offer(file, as: id) }

    package func withdraw(_ id: String) { files.withdraw(id) }

    /// Says that it is there. As long as these come, each second, the observer asks; without them it takes this tool for gone.
    package func say(_ request: ImportFile) { client.command(observer, request.body) }

    /// The observer's row of an import (id, path, state, report, problem) and its head; nil when it doesn't answer.
    package func look(
        _ id: String, within seconds: Double
    ) throws -> (row: ImportRow?, head: SequenceNumber)? {
        guard let page = try client.ask(observer, .imports(id: id), as: ImportsPage.self, within: seconds)?.first
        else { return nil }
        return (page.imports.first, page.head?.sequence ?? .beginning)
    }

    /// How far the file that is being read has come, from the last heartbeat; nil of another.
    package func progress(_ id: String) -> ObserverDetails.Reading? {
        client.heartbeats[observer]?.beat.observer?.reading.flatMap { $0.id == id ? $0 : nil }
    }
}

/// What is offered, for the thread that answers.
private final class OfferedFiles: Sendable {
    private let files = Mutex<[String: OfferedFile]>([:])

    func offer(_ file: OfferedFile, as id: String) { files.withLock { $0[id] = file } }
    func withdraw(_ id: String) { files.withLock { $0[id] = nil } }

    func answer(_ query: Query) -> Result<[FilePage], PullRefusal> {
        guard case .file(let id, let offset) = query, let file = files.withLock({ $0[id] }) else {
            return .failure(PullRefusal("this command gives no such file"))
        }
        return file.answer(from: offset)
    }
}
