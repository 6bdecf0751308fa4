import HealthImport
import HealthModel
import TestSupport
import Testing

/// ECGs in an archive: each becomes a sample and a document with the waveform, whatever the language of the phone.
@Suite struct ElectrocardiogramTests {
    /// One recording, printed in different languages; the expected result is the same for all files.
    static let files: [(String, String)] = [
        (
            "English",
            """
            Name,Robin Example
            Date of Birth,"2 Mar 1990"
            Recorded Date,2025-03-30 08:15:00 +0200
            Classification,Sinus Rhythm
            Symptoms,
            Software Version,2.0
            Device,"Watch6,1"
            Sample Rate,512.5 hertz


            Lead,Lead I
            Unit,µV

            -57.992
            1062.414
            0
            12.5
            """
        ),
        (
            "German",
            """
            Name,Robin Example
            Geburtstag,"02.03.1990"
            Aufzeichnungsdatum,2025-03-30 08:15:00 +0200
            Klassifizierung,Sinusrhythmus
            Symptome,
            Softwareversion,2.0
            Gerät,"Watch6,1"
            Messrate,512,5\u{A0}Hertz


            Ableitung,Lead I
            Einheit,μV

            -57,992
            1062,414
            0
            12,5
            """
        ),
        // A language whose names aren't known.
        (
            "made up",
            """
            Nomo,Robin Example
            Naskita,1990-03-02
            Registrita,2025-03-30 08:15:00 +0200
            Klaso,Sinusa ritmo
            Simptomoj,
            Versio,2.0
            Aparato,"Watch6,1"
            Rapideco,512,5 hercoj

            Dukto,Lead I
            Unuo,µV

            −57,992
            1.062,414
            0
            12,5
            """
        ),
        (
            "Arabic digits",
            """
            الاسم,Robin Example
            الميلاد,١٩٩٠
            التاريخ,٢٠٢٥-٠٣-٣٠ ٠٨:١٥:٠٠ +٠٢٠٠
            التصنيف,Sinusa ritmo
            الأعراض,
            الإصدار,٢٫٠
            الجهاز,"Watch6,1"
            المعدل,٥١٢٫٥ هرتز

            القطب,Lead I
            الوحدة,µV

            -٥٧٫٩٩٢
            ١٠٦٢٫٤١٤
            ٠
            ١٢٫٥
            """
        ),
    ]

    private func read(
        _ files: [(name: String, text: String)], _ elements: String = steps(), known: [PieceHash: Int] = [:]
    ) throws -> (receiver: CollectingReceiver, summary: ReadSummary) {
        let folder = try TemporaryFolder()
        let zip = ZipBytes([("apple_health_export/export.xml", export(elements))] + files)
        let receiver = CollectingReceiver()
        let path = try folder.file("e.zip", zip.bytes)
        return (receiver, try ExportReader(path: path).read(into: receiver.take, known: known))
    }

    private static let place = "apple_health_export/electrocardiograms/ecg_2025-03-30.csv"

    private func members(_ receiver: CollectingReceiver) throws -> Value {
        let row = try #require(receiver.rows.last)
        return try Value(json: Array(row.payload.utf8))
    }

    @Test(arguments: files) func isReadInEveryLanguage(language: String, text: String) throws {
        let (receiver, summary) = try read([(Self.place, text)])
        #expect(summary.electrocardiograms == 1 && summary.quarantined == 0 && summary.ignoredEntryCount == 0)
        let row = try #require(receiver.rows.last)
        #expect(row.type == "HKDataTypeIdentifierElectrocardiogram" && row.value.isNaN && row.unit == "count/min")
        // Four measurements at 512.5 per second.
        #expect(row.start == "2025-03-30T06:15:00Z" && row.end == "2025-03-30T06:15:00.007805Z")
        #expect(row.origin == Origin(sourceName: "", device: "Watch6,1"))
        let body = try members(receiver)
        #expect(body["measurements"] == 4 && body["sampleRate"] == 512.5 && body["unit"] == "µV")
        #expect(body["softwareVersion"].string.map { ["2.0", "٢٫٠"].contains($0) } == true)
        #expect(body["device"] == "Watch6,1" && body["lead"] == "Lead I" && body["symptoms"].isNull)
        #expect(body["classification"].string?.lowercased().hasPrefix("sinus") == true)
        #expect(body["rhythm"].string == (["English", "German"].contains(language) ? "sinusRhythm" : nil))
        #expect(!row.payload.contains("Robin") && !row.payload.contains("1990") && body["fields"].isNull)
        let part = try #require(receiver.documents.first)
        #expect(receiver.documents.count == 1 && part.file.kind == .electrocardiogram && part.offset == 0)
        #expect(part.file.name == "electrocardiograms/ecg_2025-03-30.csv" && part.file.mediaType == "application/json")
        #expect(part.file.reference?.identifier == "2025-03-30T06:15:00Z")
        #expect(
            String(decoding: part.bytes, as: UTF8.self)
                == #"{"lead":"Lead I","sampleRate":512.5,"unit":"µV","values":[-57.992,1062.414,0,12.5]}"#)
        #expect(part.end?.hash == ContentDigest(part.bytes[...]).bytes)
        #expect(body["waveform"].string == ContentDigest(part.bytes[...]).description)
    }

    @Test func whatElseItsHeadSaysIsKept() throws {
        let text = #"""
            Name,Robin Example
            Recorded Date,2025-03-30 08:15:00 +0200
            Classification,Heart Rate Over 120
            Average Heart Rate,131 bpm
            Symptoms,"Fatigue, Dizziness"
            Software Version,2.0
            Device,"Apple ""Watch"""
            Sample Rate,512 Hz
            Mood,calm

            Lead,Lead I
            Unit,mV

            0.5
            -1.25
            """#
        let (receiver, _) = try read([("somewhere/else.csv", text.replacing("\n", with: "\r\n"))])
        let body = try members(receiver)
        #expect(receiver.rows.last?.value == 131 && body["rhythm"] == "inconclusiveHighHeartRate")
        #expect(body["symptoms"] == "Fatigue, Dizziness" && body["device"] == #"Apple "Watch""#)
        #expect(body["fields"] == ["Mood": "calm"] && body["unit"] == "µV")
        let waveform = try Value(json: try #require(receiver.documents.first).bytes)
        #expect(waveform["values"] == [500, -1250])
    }

    @Test(arguments: [
        ("Name,X", "there is no date of its recording", 0),
        ("Recorded Date,2025-03-30 08:15:00 +0200\nUnit,µV\n\n1", "there is no sample rate", 0),
        ("Recorded Date,2025-03-30 08:15:00 +0200\nSample Rate,512 Hz\n", "there are no measurements", 0),
        (
            "Recorded Date,2025-03-30 08:15:00 +0200\nSample Rate,512 Hz\n\n1\n2\nx3\n4",
            "a measurement isn't a number", 6
        ),
        (
            "Recorded Date,2025-03-30 08:15:00 +0200\nSample Rate,512 Hz\n\n1,5\n2.5",
            "its numbers have two decimal marks", 5
        ),
        ("Recorded Date,2025-03-30 08:15:00 +0200\nSample Rate,0 Hz\n\n1", "its sample rate is impossible", 0),
    ])
    func aBrokenOneIsQuarantinedAndLeavesTheOthers(text: String, reason: String, line: Int64) throws {
        let good = try #require(Self.files.first).1
        let (receiver, summary) = try read([
            (Self.place, text), ("apple_health_export/electrocardiograms/ecg_2.csv", good),
        ])
        #expect(
            receiver.quarantine.map(\.reason) == ["an ECG's file: \(reason)"] && receiver.quarantine[0].line == line)
        #expect(receiver.quarantine[0].raw.contains(#"file="electrocardiograms/ecg_2025-03-30.csv""#))
        #expect(!receiver.quarantine[0].raw.contains("Name"))
        #expect(summary.quarantined == 1 && summary.electrocardiograms == 1 && summary.damaged == nil)
        #expect(receiver.rows.map(\.type).suffix(1) == ["HKDataTypeIdentifierElectrocardiogram"])
        #expect(receiver.documents.count == 1)
    }

    /// The waveform needn't be read again, but the sample must be; otherwise a complete import would delete it.
    @Test func aKnownWaveformIsPassedOver() throws {
        let text = Self.files[0].1
        let first = try read([(Self.place, text)])
        let piece = try #require(first.receiver.documents.first?.end?.piece)
        let again = try read([(Self.place, text)], known: [piece: 1])
        #expect(
            again.receiver.documents.isEmpty && again.receiver.rows.map(\.payload) == first.receiver.rows.map(\.payload)
        )
        #expect(again.summary == first.summary)
    }
}
