import FilesStage
import HealthModel
import Protocol
import Testing

/// A span and the path of its file contain the same information.
@Suite struct FileSpanTests {
    private func day(_ text: String) throws -> LocalDay { try #require(LocalDay(text)) }

    @Test func aPathSaysWhatIsInTheFile() throws {
        let month = FilePeriod(.month, of: try day("2025-03-30"))
        let steps = FileSpan(
            user: "me", content: .samples(type: "HKQuantityTypeIdentifierStepCount"), period: month, format: .csv)
        #expect(steps.path == "user=me/samples/type=HKQuantityTypeIdentifierStepCount/month=2025-03.csv")
        let nights = FileSpan(
            user: "Jörg/..", content: .nights, period: FilePeriod(.year, of: try day("2025-03-30")), format: .ndjson)
        #expect(nights.path == "user=J%C3%B6rg%2F../nights/year=2025.ndjson")
        for span in [steps, nights] { #expect(FileSpan(path: span.path) == span) }
    }

    @Test(arguments: [(FileFormat.fhir, "fhir.ndjson"), (.openMHealth, "omh.ndjson")])
    func aStandardsFilesSaySo(_ format: FileFormat, _ ending: String) throws {
        let span = FileSpan(
            user: "me", content: .samples(type: "A"), period: FilePeriod(.month, of: try day("2025-03-30")),
            format: format)
        #expect(span.path == "user=me/samples/type=A/month=2025-03.\(ending)")
        #expect(FileSpan(path: span.path) == span)
        #expect(FilesLayout(["format": .string(format.rawValue)]).has(span))
    }

    @Test func otherPeopleAreAnotherLayout() {
        let (plain, named): (Value, Value) = (["format": "fhir"], ["format": "fhir", "patients": ["me": "a|1"]])
        #expect(FilesLayout(plain).kept != FilesLayout(named).kept)
        #expect(FilesLayout(plain).kept != FilesLayout(["format": "fhir", "sources": true]).kept)
        #expect(FilesLayout(["patients": ["me": "a|1"]]).kept == FilesLayout([:]).kept, "csv names nobody")
    }

    @Test(arguments: [
        "user=me/samples/type=X/month=2025-13.csv", "user=me/days/year=2025.omh", "user=me/days/year=2025.fhir.csv",
        "user=me/samples/type=X/month=2025-3.csv",
        "user=me/samples/type=X/year=2025.txt", "user=me/notes/year=2025.csv", "user=me/days/year=2025.csv.part",
        "me/days/year=2025.csv", "user=/days/year=2025.csv", "user=%6De/days/year=2025.csv",
        "user=me/+=x/days/year=2025.csv", "user=me/days/+=x/year=2025.csv", "manifest.json", "", "/",
    ])
    func otherPathsAreNobodys(_ path: String) { #expect(FileSpan(path: path) == nil) }

    /// No name leads out of the folder, or looks like the path for another name.
    @Test(arguments: ["..", ".", "a/b", "a=b", "%2e", "é", " "])
    func namesStayWithinTheirFolder(_ name: String) throws {
        let span = FileSpan(
            user: name, content: .days, period: FilePeriod(.year, of: try day("2024-02-29")), format: .csv)
        let parts = span.path.split(separator: "/")
        #expect(parts.count == 3 && !parts.contains("..") && !parts.contains("."))
        #expect(FileSpan(path: span.path)?.user == name)
    }

    /// A file system allows at most 255 bytes for the name of a folder, but the name of a pushed type may have 1000.
    @Test(arguments: ["a", "é", "%"], [239, 240, 241, 480, 1000])
    func aLongNameGoesIntoSeveralFolders(_ letter: String, _ count: Int) throws {
        let name = String(repeating: letter, count: count)
        let span = FileSpan(
            user: "me", content: .samples(type: name), period: FilePeriod(.year, of: try day("2024-02-29")),
            format: .csv)
        #expect(span.path.split(separator: "/").allSatisfy { $0.utf8.count <= 255 })
        #expect(FileSpan(path: span.path) == span)
        let person = FileSpan(user: name, content: .days, period: span.period, format: .csv)
        #expect(FileSpan(path: person.path) == person)
    }

    @Test func periodsMeetWithoutAGap() throws {
        for unit in [FilePeriod.Unit.day, .month, .year] {
            var period = FilePeriod(unit, of: try day("2023-11-30"))
            for _ in 0..<30 {
                let next = FilePeriod(unit, of: period.next)
                #expect(period.instants.upperBound == next.instants.lowerBound)
                #expect(period.days.upperBound + 1 == next.days.lowerBound)
                #expect(FilePeriod(unit, text: period.text) == period)
                period = next
            }
        }
    }

    /// Months are also correct before 1970, where the numbers are negative.
    @Test(arguments: [
        ("1969-12-31T23:59:59.999999Z", "1969-12"), ("1970-01-01T00:00:00Z", "1970-01"),
        ("2025-03-31T23:30:00-02:00", "2025-04"), ("1900-02-28T12:00:00Z", "1900-02"),
    ])
    func aMomentIsOfItsMonthByUTC(_ text: String, _ month: String) throws {
        let time = try #require(InstantText.parse(text))
        #expect(FilePeriod(.month, at: time).text == month)
    }

    @Test func aLayoutKnowsItsFiles() throws {
        let options: Value = ["format": "ndjson", "by": "day", "types": ["B", "A"]]
        let layout = FilesLayout(options)
        let time = try #require(InstantText.parse("2025-03-30T12:00:00Z"))
        let span = layout.samples("A", of: "me", at: time)
        #expect(span.path == "user=me/samples/type=A/day=2025-03-30.ndjson")
        #expect(layout.has(span))
        #expect(!layout.has(FilesLayout(["by": "day"]).samples("A", of: "me", at: time)), "of another format")
        #expect(!layout.has(FilesLayout(["format": "ndjson"]).samples("A", of: "me", at: time)), "of other lengths")
        #expect(!layout.has(layout.samples("C", of: "me", at: time)), "of a type that isn't kept")
        #expect(layout == FilesLayout(["format": "ndjson", "by": "day", "types": ["A", "B"]]))
        #expect(!FilesLayout([:]).types.takes(HealthType.workoutIdentifier), "workouts have files of their own")
    }

    @Test(arguments: [
        (["steps"], "steps"), (["heartRate", "average"], "heart_rate_average"),
        (["hrvSDNNMilliseconds"], "hrv_sdnn_milliseconds"), (["my figure"], "my_figure"), (["a_B"], "a_b"),
    ])
    func columnsAreNamedAsInQueries(_ path: [String], _ name: String) {
        #expect(DocumentRows.Column.name(of: path) == name)
    }
}
