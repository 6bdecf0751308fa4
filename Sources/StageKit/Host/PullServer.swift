import Changelog
import Client
import Foundation
import HealthModel
import MessageBus
import Protocol
import SQLite
import Synchronization

/// The thread that answers pulls, so that long reads never wait for the writer, nor the writer for them.
final class PullServer: Sendable {
    private let requests = Mutex(PullQueue())
    /// Wakes the thread: a request is waiting.
    private let bell = Mailbox<Void>(capacity: 1)
    private let finished = DispatchSemaphore(value: 0)

    init(
        instance: String, log: StageLog, open: @escaping @Sendable () throws -> (Database, any PullSource),
        notice: @escaping @Sendable (PullNotice) -> Void, failed: @escaping @Sendable (any Error) -> Void,
        send: @escaping @Sendable (String, Value) -> Void
    ) {
        Thread.begin("pulls") { [self] in
            do {
                let (database, source) = try open()
                let service = PullService(instance: instance, log: log.seldom(), notice: notice, send: send)
                while !bell.isClosed {
                    guard let request = requests.withLock({ $0.take() }) else {
                        _ = bell.take(limit: 1, timeout: 60)
                        continue
                    }
                    try service.serve(request, database, source)
                }
            } catch { failed(error) }
            finished.signal()
        }
    }

    /// If there is no room for a request, it is dropped, and its sender repeats it.
    func offer(_ message: Message) {
        requests.withLock { _ = $0.offer(message.body, from: message.header.from) }
        bell.offer(())
    }

    func close() {
        bell.close()
        finished.wait()
    }
}
