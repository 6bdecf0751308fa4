import HealthModel
import HealthStore
import SQLite
import TestSupport
import Testing

/// Each document's content is stored once, completely or not at all.
@Suite struct DocumentStoreTests {
    private static func file(_ name: String, _ identifier: String = "", _ element: String = "ClinicalRecord")
        -> DocumentFile
    {
        DocumentFile(
            kind: .clinicalRecord, name: name, mediaType: "application/fhir+json",
            reference: identifier.isEmpty
                ? nil
                : DocumentReference(
                    element: element, type: "Observation", identifier: identifier, sourceName: "Clinic",
                    received: Instant(seconds: 1_700_000_000)))
    }

    private func parts(_ file: DocumentFile, _ content: [UInt8], of size: Int) -> [DocumentPart] {
        let cuts = Array(stride(from: 0, to: max(1, content.count), by: size))
        return cuts.map { at in
            let bytes = Array(content[at..<min(content.count, at + size)])
            let end = DocumentPart.End(hash: ContentDigest(content[...]).bytes, piece: PieceHash(high: 7, low: 9))
            return DocumentPart(file: file, offset: Int64(at), bytes: bytes, end: at == cuts.last ? end : nil)
        }
    }

    /// Each part is stored in a transaction of its own.
    @discardableResult
    private func keep(_ store: StoreFixture, _ parts: [DocumentPart]) throws -> Bool {
        var isNew = false
        for part in parts { isNew = try store.database.transaction { try store.writer.keep(part) } }
        return isNew
    }

    private func content(_ store: StoreFixture, _ number: Int64) throws -> [UInt8] {
        var bytes: [UInt8] = []
        while let found = try store.reader.document(number, from: Int64(bytes.count), limit: 1000) {
            if found.bytes.isEmpty {
                #expect(found.size == bytes.count && found.hash == ContentDigest(bytes[...]).bytes)
                return bytes
            }
            bytes += found.bytes
        }
        return []
    }

    private let long = (0..<5000).map { UInt8(truncatingIfNeeded: $0 &* 7 ^ $0 >> 6) }

    @Test(arguments: [5000, 4999, 1700, 1]) func contentIsKeptOnceWhateverItsPartsAndNames(size: Int) throws {
        let store = try StoreFixture()
        let content = size == 1 ? Array(long.prefix(20)) : long
        #expect(try keep(store, parts(Self.file("a.json", "1"), content, of: size)))
        let first = try store.reader.documents(user: "anna", limit: 10)
        #expect(first.map(\.file) == [Self.file("a.json", "1")] && first.map(\.bytes) == [Int64(content.count)])
        #expect(try self.content(store, first[0].number) == content)
        // The same content again, in different parts: nothing new is stored, but the current name of the file is noted.
        #expect(try !keep(store, parts(Self.file("b.json", "1"), content, of: size + 1)))
        // A different resource with the same content is stored as another name for it.
        #expect(try !keep(store, parts(Self.file("c.json", "2"), content, of: size)))
        let both = try store.reader.documents(user: nil, limit: 10)
        #expect(both.map(\.file.name) == ["b.json", "c.json"] && Set(both.map(\.number)) == [first[0].number])
        #expect(try store.reader.documents(user: "nobody", limit: 10) == [])
        let rows = try store.database.prepare("SELECT count(*) FROM documents").firstRow { $0.int(0) }
        #expect(rows == 1)
    }

    @Test func aDocumentWithoutItsEndIsntThere() throws {
        let store = try StoreFixture()
        let whole = parts(Self.file("a.json"), long, of: 1000)
        try keep(store, Array(whole.prefix(3)))
        #expect(try store.reader.documents(user: nil, limit: 10) == [])
        #expect(try store.reader.document(1, from: 0, limit: 10) == nil)
        // A part that isn't the next one.
        #expect(throws: HealthStoreError.brokenDocument) { try keep(store, [whole[4]]) }
        // A new writer starts from the beginning, as it does after a crash.
        store.writer = try HealthStoreWriter(database: store.database, user: "anna", sequences: store.sequences)
        #expect(throws: HealthStoreError.brokenDocument) { try keep(store, [whole[3]]) }
        #expect(try keep(store, parts(Self.file("b.json"), [1, 2], of: 10)))
        let left = try store.database.prepare("SELECT count(*), sum(length(content)) FROM document_parts").firstRow {
            [$0.int(0), $0.int(1)]
        }
        #expect(left == [1, 2])
        #expect(try keep(store, whole))
        #expect(try store.reader.documents(user: nil, limit: 1).map(\.file.name) == ["b.json"])
        #expect(try store.reader.documents(user: nil, after: 1, limit: 5).last?.bytes == 5000)
    }

    /// The number of names is limited, because otherwise there could be any number of empty files.
    @Test func oneContentHasOnlySoManyNames() throws {
        let store = try StoreFixture()
        for number in 0..<40 { try keep(store, parts(Self.file("\(number).json"), [], of: 1)) }
        let found = try store.reader.documents(user: nil, limit: 1)
        #expect(found.count == 16 && Set(found.map(\.number)).count == 1 && found.allSatisfy { $0.bytes == 0 })
    }

    @Test func aTransactionThatIsUndoneLeavesNothing() throws {
        let store = try StoreFixture()
        let whole = parts(Self.file("a.json"), long, of: 3000)
        struct Stop: Error {}
        #expect(throws: Stop.self) {
            try store.database.transaction {
                try store.writer.keep(whole[0])
                throw Stop()
            }
        }
        #expect(throws: HealthStoreError.brokenDocument) { try keep(store, [whole[1]]) }
        #expect(try keep(store, whole) && store.reader.documents(user: nil, limit: 5).count == 1)
    }

    @Test func aStoreOfAnEarlierReleaseIsBroughtUpToDate() throws {
        let store = try StoreFixture()
        try store.add([Record()])
        try store.database.execute(
            """
            DROP TABLE documents; DROP TABLE document_parts; DROP TABLE document_names;
            DELETE FROM store_schema; INSERT INTO store_schema VALUES (5)
            """)
        // A tool that reads the file without updating it finds no documents.
        let again = try Database(path: store.path)
        #expect(try HealthStoreReader(database: again).documents(user: nil, limit: 5) == [])
        try again.transaction { try HealthStoreSchema.create(in: again) }
        let version = try again.prepare("SELECT max(version) FROM store_schema").firstRow { $0.int(0) }
        #expect(version == HealthStoreSchema.version)
        let writer = try HealthStoreWriter(database: again, user: "anna", sequences: CountingSequence(from: 5000))
        #expect(try again.transaction { try writer.keep(parts(Self.file("a"), long, of: 9000)[0]) })
        #expect(try HealthStoreReader(database: again).documents(user: "anna", limit: 5).count == 1)
        #expect(try store.alive().count == 1)
    }
}
