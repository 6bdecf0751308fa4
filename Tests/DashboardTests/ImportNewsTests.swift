import DashboardStage
import HealthModel
import Protocol
import Testing

@Suite struct ImportNewsTests {
    private func reading(_ id: String, _ bytes: Int64) -> ObserverDetails.Reading {
        .init(id: id, bytesRead: bytes, bytesTotal: 200, records: bytes * 10)
    }

    private func row(_ id: String, _ state: String, user: String = "anna") -> Value {
        ["id": .string(id), "user": .string(user), "state": .string(state), "submitted": "2025-03-30T10:00:00Z"]
    }

    /// A page may not know the import, and must not hear about other people's.
    @Test func eachEventHasTheWholeRowAndItsPerson() {
        var (news, asked) = (ImportNews(), 0)
        func look(_ now: ObserverDetails.Reading?, _ state: String) -> [Value] {
            news.look(now) {
                asked += 1
                return [row("b", "closed", user: "bob"), row("a", state)]
            }
        }
        #expect(look(nil, "announced").isEmpty && asked == 0)
        for bytes: Int64 in [50, 100] {
            let reported = look(reading("a", bytes), "open")
            #expect(reported.count == 1 && reported[0]["id"] == "a" && reported[0]["state"] == "reading")
            #expect(reported[0]["user"] == "anna" && reported[0]["submitted"] == "2025-03-30T10:00:00Z")
            let progress: Value = ["fraction": .number(Double(bytes) / 200), "records": .integer(bytes * 10)]
            #expect(reported[0]["progress"] == progress)
        }
        #expect(look(reading("a", 100), "open").isEmpty && asked == 1, "nothing has changed")
        #expect(look(nil, "closed") == [row("a", "closed")] && asked == 2)
    }

    @Test func theNextImportMayBeginAtOnce() {
        var news = ImportNews()
        _ = news.look(reading("a", 50)) { [row("a", "open")] }
        let reported = news.look(reading("b", 20)) { [row("b", "open", user: "bob"), row("a", "closed")] }
        #expect(reported.map { $0["id"].string } == ["a", "b"])
        #expect(reported.map { $0["state"].string } == ["closed", "reading"])
    }

    /// Nothing is sent until it is known whose import it is.
    @Test func anImportWithoutARowIsAskedForAgain() {
        var news = ImportNews()
        #expect(news.look(reading("a", 50)) { [] }.isEmpty)
        #expect(news.look(reading("a", 60)) { [row("a", "open")] }.map { $0["user"].string } == ["anna"])
    }

    @Test func aRowThatIsOverStaysAsItIs() {
        let rows = [row("a", "closed"), row("a", "failed"), row("b", "open")]
        #expect(rows.map { ImportNews.row($0, reading("a", 100)) } == rows)
        #expect(ImportNews.row(row("a", "open"), nil) == row("a", "open"))
        #expect(ImportNews.row(row("a", "announced"), reading("a", 100))["progress"]["fraction"] == .number(0.5))
    }
}
