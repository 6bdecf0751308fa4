import Foundation
import Logging
import PostgreSQL
import Synchronization

/// Where the database's URL comes from: the instance's own file (read again when the database refuses our credentials),
/// otherwise the environment. Never from an argument, never in a log: it may contain a password.
package final class DatabaseURL: Sendable {
    package static let variable = "HEALTHBUS_POSTGRES_URL"

    private let file: String?
    private let environment: String?
    private let cached = Mutex<String?>(nil)

    package init(file: String?, environment: String?) {
        self.file = file.flatMap { $0.isEmpty ? nil : $0 }
        self.environment = environment.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// - Parameter refresh: whether the file is read again.
    /// - Throws: `Failure` when there is none.
    package func current(refresh: Bool = false) throws -> String {
        if !refresh, let url = cached.withLock({ $0 }) { return url }
        let url = try read()
        cached.withLock { $0 = url }
        return url
    }

    private func read() throws -> String {
        guard let file else {
            guard let environment else {
                throw Failure(
                    "no database to deliver to",
                    hint: "set \(Self.variable), or 'urlFile' in the instance's configuration")
            }
            return environment
        }
        guard let data = FileManager.default.contents(atPath: file) else {
            throw Failure(
                "the file with the database's URL can't be read: \(file)", hint: "write the URL into it, with mode 0600"
            )
        }
        let url = String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        guard !url.isEmpty else {
            throw Failure(
                "the file with the database's URL is empty: \(file)", hint: "write the URL into it, with mode 0600")
        }
        return url
    }
}
