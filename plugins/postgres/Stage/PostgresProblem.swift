import DeliveryKit
import PostgreSQL
import PostgresStore

/// What a database error means for the data that was to be written, and for a person. Pure.
package struct PostgresProblem: Equatable {
    package let outcome: RetryPolicy.Outcome
    /// What happened, and where.
    package let why: String
    package let isOfPassword: Bool
    /// Whether the tables have changed since this connection examined them.
    package let needsNewConnection: Bool

    /// - Parameter isOpening: whether nothing had been written yet.
    package init(_ error: any Error, isOpening: Bool = false) {
        why = "\(error)"
        guard let error = error as? PostgresError else {
            isOfPassword = false
            needsNewConnection = true
            outcome = Self.outcome(of: error as? PostgresStoreError)
            return
        }
        isOfPassword = error.state.map { ["28P01", "28000"].contains($0) } ?? false
        needsNewConnection = error.meansOtherTables
        let found = Self.outcome(of: error)
        // Whatever fails before anything is written isn't the data's fault.
        if isOpening, case .refused = found { outcome = .unproven } else { outcome = found }
    }

    /// The reason, with the remedy if only a person can help.
    package var text: String {
        switch outcome {
        case .needsPerson(let pause), .refusesToken(_, let pause): "\(why); \(pause.remedy)"
        default: why
        }
    }

    package var reply: DeliveryReply { .failed(.init(outcome, why: why)) }

    private static func outcome(of error: PostgresError) -> RetryPolicy.Outcome {
        guard let state = error.state else {
            return error.kind == .url
                ? person("correct \(DatabaseURL.variable), or the file named by 'urlFile'") : .unproven
        }
        switch state {
        case "28P01", "28000":
            let remedy =
                "put the right user and password into \(DatabaseURL.variable), or into the file named by 'urlFile'; the server "
                + "may also be set up to exclude this machine (pg_hba.conf)"
            return .refusesToken(isFinal: false, .init(remedy: remedy))
        case "3D000": return person("create the database as the server's administrator: createdb NAME")
        case "42501":
            return person("grant the role what it needs: see 'Roles' in docs/postgres.md")
        case "25006": return person("it is a read-only copy: name the server that accepts writes")
        case "53100": return person("free space on the database server's disk")
        case "42710", "42P07", "23514": return .unproven
        default: return outcome(ofClass: state.prefix(2))
        }
    }

    private static func outcome(ofClass kind: Substring) -> RetryPolicy.Outcome {
        // Data that the database can't store, constraints on data, and limits on size.
        ["22", "23", "54"].contains(kind) ? .refused("the database can't store it") : .unproven
    }

    private static func outcome(of error: PostgresStoreError?) -> RetryPolicy.Outcome {
        switch error {
        case .viewInUse: person("drop your view, and create it again after this one is created")
        case .damaged(let table):
            person(
                "run 'DROP TABLE \(table) CASCADE' there, which drops views of yours that are built on it: it is made "
                    + "again, and everything is delivered to it")
        case .noIdentity: .unproven
        case .schema, nil: person("use the release that wrote it last, or another 'schema'")
        }
    }

    private static func person(_ remedy: String) -> RetryPolicy.Outcome { .needsPerson(.init(remedy: remedy)) }
}
