// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

extension ImportCommand {
  /// `nearby import layouts`: how to describe a log of lines.
  struct Layouts: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Show how --layout describes a log of lines.",
      discussion: "Prints a text about layouts, with one for the lines of DWM1001's 'lec'.")

    func run() throws { try StandardOutput.print(Self.text) }

    private static let text = """
      A layout is a JSON file that says what the lines of a log hold:

        { "delimiter": "comma", "header": false,
          "lines": [ {
            "where": { "2": "DIST" },
            "groups": { "start": 4, "size": 6, "count": 3 },
            "samples": [ { "timestamp": 1, "peer": "+2", "distance": "+6" } ] } ] }

      This one reads 'lec' of a DWM1001 with a time before each line, whose anchors repeat in six
      columns each: 1595264.1,DIST,2,AN0,1151,5.43,8.05,0.00,3.44,AN1,0CA8,0.00,8.05,0.00,6.51

        delimiter  comma, semicolon, tab or blanks; comma when left out
        header     whether the first line names the columns; true when left out
        lines      the kinds of lines; the first kind that fits is taken, others are left out
        where      the text that a column holds in lines of this kind, or several: ["a", "b"]
        groups     columns that repeat: the first, how many belong together, and the column
                   that says how often they repeat; to the end of the line when left out
        samples    what each sample is made of, by the keys of --map

      A column is its name, or its number from 1; "+1" is the first of a group. Instead of a column
      there may be an object: { "column": "d0", "unit": "cm", "missing": [0, 65535] }, or
      { "text": "A0" } for what is the same in all lines. The unit of distance_sigma may be m2,
      for a variance. A sample without a measured value is left out.
      """
  }
}
