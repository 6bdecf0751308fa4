import CPosix
import CPostgreSQL

/// Where a database is, without the password: for display, and to distinguish databases.
package struct PostgresAddress: Sendable, Equatable, CustomStringConvertible {
    /// A name, an address, or the folder of a socket.
    package var host: String
    package var port: String
    package var database: String

    /// - Parameter url: `postgresql://user:password@host:port/database`, or `host=… dbname=…`.
    /// - Throws: `PostgresError`; it doesn't repeat the URL, which may contain a password.
    package init(url: String) throws(PostgresError) {
        guard url.utf8.allSatisfy({ $0 >= 0x20 }), url.contains("://") || url.contains("=") else {
            throw Self.unreadable
        }
        var message: UnsafeMutablePointer<CChar>?
        guard let options = PQconninfoParse(url, &message) else {
            PQfreemem(message)
            throw Self.unreadable
        }
        defer { PQconninfoFree(options) }
        var values: [String: String] = [:]
        var option = options
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val { values[String(cString: keyword)] = String(cString: value) }
            option += 1
        }
        host = values["host"] ?? values["hostaddr"] ?? "localhost"
        port = values["port"] ?? "5432"
        database = values["dbname"] ?? values["user"] ?? "postgres"
        // A '/' or '@' in a password that isn't written as %2F or %40 would be read as part of the address, and shown
        // to everybody.
        guard ![host, port, database].contains(where: { $0.contains("@") }),
            port.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x2C })
        else { throw Self.unreadable }
    }

    private static var unreadable: PostgresError {
        PostgresError(
            .url, endpoint: "database URL",
            "it can't be read: write it as postgresql://user:password@host:5432/database, and '/' and '@' in the password as %2F and %40"
        )
    }

    package var description: String { host.hasPrefix("/") ? "\(host)/\(database)" : "\(host):\(port)/\(database)" }

    /// Whether the database is on this machine.
    package var isLocal: Bool { host.hasPrefix("/") || healthbus_is_loopback(host) != 0 }
}
