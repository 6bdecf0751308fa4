import HealthModel

/// A request's samples and deletions in columns, which a backend may accept instead of JSON (docs/backend.md): a page
/// as it travels on the bus, along with the user and the time.
package struct SampleDelivery: Sendable {
    package static let contentType = "application/vnd.healthbus.columns+cbor"
    /// The maximum number of elements in one request, in either form.
    package static let elementLimit = 20_000

    /// nil when the sender names no user.
    package var user: String?
    package var device: String?
    /// nil when the sender didn't say.
    package var syncedAt: Instant?
    /// Living samples. Their sequences are their versions; `created` and everything in their origins except the
    /// source's name aren't sent.
    package var samples: SamplePage
    /// The deleted samples, and the versions of their deletions: one element per deletion in each.
    package var deleted: [SampleID]
    package var deletedVersions: [Int64]

    package init(
        user: String?, device: String?, syncedAt: Instant?, samples: SamplePage, deleted: [SampleID] = [],
        deletedVersions: [Int64] = []
    ) {
        (self.user, self.device, self.syncedAt, self.samples, self.deleted) = (user, device, syncedAt, samples, deleted)
        self.deletedVersions = deletedVersions
    }

    /// Samples and deletions.
    package var count: Int { samples.count + deleted.count }

    /// Whether a Content-Type names this form.
    package static func isNamed(by field: String?) -> Bool {
        field?.split(separator: ";").first?.trimmedASCII.lowercased() == contentType
    }

    package func encoded() -> [UInt8] {
        var page = samples
        page.created = []
        page.origins = page.origins.map { Origin(sourceName: $0.sourceName) }
        var members: [String: Value] = ["samples": page.wireValue]
        if let user { members["userId"] = .string(user) }
        if let device { members["deviceId"] = .string(device) }
        if let syncedAt { members["syncedAt"] = .integer(syncedAt.microseconds) }
        if !deleted.isEmpty {
            members["deleted"] = [
                "id": .bytes(SamplePage.idBytes(deleted)), "seq": .column(.int64(deletedVersions)),
            ]
        }
        return CBOREncoder.encode(.object(members))
    }

    /// Reads a body. The contents of individual rows aren't checked, but every index must point into its dictionary,
    /// and all columns must have the same length.
    /// - Throws: `CBORError`, `PageError`, `ColumnsError`.
    package init(body: [UInt8]) throws {
        let value = try CBORDecoder.decode(body, items: Self.itemLimit)
        guard value.object != nil else { throw ColumnsError.member("map") }
        user = try Self.text(value, "userId")
        device = try Self.text(value, "deviceId")
        switch value["syncedAt"] {
        case .null: syncedAt = nil
        case .integer(let microseconds): syncedAt = Instant(microseconds: microseconds)
        default: throw ColumnsError.member("syncedAt")
        }
        samples = value["samples"].isNull ? SamplePage() : try SamplePage(wireValue: value["samples"])
        (deleted, deletedVersions) = ([], [])
        let gone = value["deleted"]
        if !gone.isNull {
            guard let ids = gone["id"].bytes, let versions = gone["seq"].int64s else {
                throw ColumnsError.member("deleted")
            }
            deleted = try SamplePage.ids(ids, column: "deleted")
            deletedVersions = versions
            guard deleted.count == versions.count else { throw PageError(column: "deleted") }
        }
        guard !value["samples"].isNull || !gone.isNull else { throw ColumnsError.empty }
    }

    /// The maximum number of CBOR items, so that no small body becomes a large value: each sample may have its own
    /// type, unit and four-part origin, and a column is one item.
    private static let itemLimit = 8 * elementLimit

    private static func text(_ value: Value, _ name: String) throws -> String? {
        switch value[name] {
        case .null: nil
        case .string(let text): text
        default: throw ColumnsError.member(name)
        }
    }
}

/// Why a body of columns can't be read.
package enum ColumnsError: Error, Equatable, CustomStringConvertible {
    case member(String)
    case empty

    package var description: String {
        switch self {
        case .member("map"): "the body isn't a map"
        case .member(let name): "\(name) has the wrong form"
        case .empty: "both samples and deleted are missing"
        }
    }
}

extension Substring {
    fileprivate var trimmedASCII: Substring {
        var text = self
        while text.first == " " || text.first == "\t" { text.removeFirst() }
        while text.last == " " || text.last == "\t" { text.removeLast() }
        return text
    }
}
