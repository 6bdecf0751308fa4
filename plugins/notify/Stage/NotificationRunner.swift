import Configuration
import Dispatch
import Foundation
import Glibc
import HTTP
import StageKit

/// Runs the program or calls the webhook, one at a time, on a thread of its own.
package final class NotificationRunner: ThreadedRunner {
    package let thread: EffectThread

    package init(_ target: NotificationTarget, timeout: Double) {
        thread = EffectThread("notify") { _ in
            { job in
                guard let notification = job.effect.request as? Notification else { return }
                let result =
                    switch target {
                    case .command(let words): Self.run(words, notification, timeout)
                    case .webhook(let hook, let file): Self.post(hook, file, notification, timeout)
                    }
                job.answer(result)
            }
        }
    }

    private static func run(_ words: [String], _ notification: Notification, _ timeout: Double) -> NotificationResult {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: words[0])
        process.arguments = Array(words.dropFirst())
        process.environment = ProcessInfo.processInfo.environment.merging(notification.environment) { $1 }
        let input = Pipe()
        process.standardInput = input
        process.standardOutput = FileHandle.nullDevice
        let ended = DispatchSemaphore(value: 0)
        process.terminationHandler = { _ in ended.signal() }
        do {
            // Written while this process still holds the other end open, so there is no SIGPIPE, whether or not the
            // program reads it. It is far smaller than a pipe's capacity.
            try input.fileHandleForWriting.write(contentsOf: Data((notification.json + "\n").utf8))
            try input.fileHandleForWriting.close()
            try process.run()
        } catch {
            return .failed("\(words[0]) can't be run: \((error as NSError).localizedDescription)")
        }
        guard ended.wait(timeout: .now() + timeout) == .success else {
            kill(process.processIdentifier, SIGKILL)
            ended.wait()
            return .failed("\(words[0]) ran longer than \(Int(timeout)) s and was ended")
        }
        guard process.terminationReason == .exit, process.terminationStatus == 0 else {
            return .failed("\(words[0]) ended with \(process.terminationStatus)")
        }
        return .notified
    }

    private static func post(
        _ hook: Webhook, _ tokenFile: String?, _ notification: Notification, _ timeout: Double
    ) -> NotificationResult {
        do {
            var headers: HTTPHeaders = [
                "Content-Type": "application/json", "Idempotency-Key": "\"\(notification.id)\"",
            ]
            if let tokenFile { headers.add("Authorization", "Bearer \(try SecretFile.read(tokenFile))") }
            let status = try hook.post(notification.json, headers: headers, timeout: timeout)
            return (200..<300).contains(status) ? .notified : .failed("the webhook answered \(status)")
        } catch {
            return .failed("\(error)")
        }
    }
}
