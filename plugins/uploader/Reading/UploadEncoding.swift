import DeliveryKit
import HealthModel
import JSON

/// Bodies of sync requests, written directly from columns.
package enum UploadEncoding {
    /// Appends the body of one request with the given rows: tombstones under `deleted`, all others under `samples`.
    ///
    /// Quarantined rows are left out: they are stored, not delivered. The page must have all columns; `unit`,
    /// `metadata`, `payload` and `healthKitUUID` may be empty columns and are then null, or left out (`payload`).
    /// - Returns: the number of elements written.
    @discardableResult
    package static func samples(
        page: SamplePage, rows: some Collection<Int>, user: String, deviceId: String, syncedAt: Instant,
        into out: inout [UInt8]
    ) -> Int {
        head(user, deviceId, syncedAt, &out)
        let fragments = PageFragments(page)
        var count = 0
        out.append(json: ",\"samples\":[")
        for row in rows where page.flags[row].isDisjoint(with: [.deleted, .quarantined]) {
            if count > 0 { out.append(UInt8(ascii: ",")) }
            fragments.append(row, of: page, to: &out)
            count += 1
        }
        var deleted = 0
        out.append(json: "],\"deleted\":[")
        for row in rows where page.flags[row].contains(.deleted) {
            if deleted > 0 { out.append(UInt8(ascii: ",")) }
            out.append(json: "{\"id\":\"")
            out.append(uuid: page.ids[row])
            out.append(json: "\",\"version\":")
            out.append(json: page.sequence[row])
            out.append(UInt8(ascii: "}"))
            deleted += 1
        }
        out.append(json: "]}")
        return count + deleted
    }

    /// Appends the body for workouts, nights or days: documents with their versions, and deletions.
    package static func documents(
        _ list: HeldList, _ documents: some Collection<DeliveryGroup.Document>, user: String, deviceId: String,
        syncedAt: Instant, into out: inout [UInt8]
    ) {
        head(user, deviceId, syncedAt, &out)
        out.append(contentsOf: ",\"\(list.rawValue)\":[".utf8)
        var count = 0
        for document in documents {
            guard let body = document.body.flatMap({ DeliveryDocument.versioned($0, document.version) }) else {
                continue
            }
            if count > 0 { out.append(UInt8(ascii: ",")) }
            out.append(contentsOf: body.json().utf8)
            count += 1
        }
        out.append(json: list == .nights ? "],\"deletedNights\":[" : "],\"deleted\":[")
        for (index, deletion) in documents.lazy.filter({ $0.body == nil }).enumerated() {
            if index > 0 { out.append(UInt8(ascii: ",")) }
            out.append(json: "{\"id\":")
            out.append(jsonString: deletion.id)
            out.append(json: ",\"version\":")
            out.append(json: deletion.version)
            out.append(UInt8(ascii: "}"))
        }
        out.append(json: "]}")
    }

    private static func head(_ user: String, _ deviceId: String, _ syncedAt: Instant, _ out: inout [UInt8]) {
        out.append(json: "{\"userId\":")
        out.append(jsonString: user)
        out.append(json: ",\"deviceId\":")
        out.append(jsonString: deviceId)
        out.append(json: ",\"syncedAt\":")
        out.append(jsonDate: syncedAt)
    }
}
